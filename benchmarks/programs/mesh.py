"""Merge the vertices of a mesh, the surface in scikit-image's depth image of a motorcycle.

As in an STL file, each triangle has three vertices of its own. Equal vertices become one, and the
triangles become indices of vertices. Vertices at the border have fewer than six triangles.
"""

from pathlib import Path

import numpy as np
import skimage.data
from shared import start


def main(f, step=1):
    # skimage.data.stereo_motorcycle reads this file, and two photographs that are not needed here.
    disparity = np.load(Path(skimage.data.__file__).with_name("motorcycle_disp.npz"))["arr_0"]
    depth = 1000 / disparity[::step, ::step]
    rows, columns = np.indices(depth.shape, np.float32)
    points = np.stack([columns * depth, rows * depth, depth], axis=-1)
    corners = [points[:-1, :-1], points[:-1, 1:], points[1:, :-1], points[1:, 1:]]
    triangles = np.stack([corners[k] for k in (0, 1, 2, 2, 1, 3)], axis=2).reshape(-1, 3, 3)
    triangles = f.boolean_mask(triangles, np.isfinite(triangles).all(axis=(1, 2)))

    vertices, faces = f.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    faces = faces.reshape(-1, 3)
    _, degrees = f.unique(faces, return_counts=True)
    border = f.flatnonzero(degrees < 6)  # inside, six triangles meet
    return {"vertices": vertices, "faces": faces, "border": border}


if __name__ == "__main__":
    start(main)
