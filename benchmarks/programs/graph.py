"""Which regions of a photograph touch? The region adjacency graph of an image of scikit-image.

The green channel of the image of a retina, reduced to eight shades, is divided into regions. Each
pair of neighbouring pixels of two regions is an edge. Equal edges become one, whose count is the
length of the border. Then edges with short borders are removed, and the regions that still have
edges are numbered anew.
"""

import numpy as np
import skimage.data
import skimage.measure
from shared import start

SHADES = 8
MIN_BORDER = 3


def main(f, step=1):
    image = skimage.data.retina()[::step, ::step, 1]
    labels = skimage.measure.label(image // (256 // SHADES) + 1, connectivity=1)

    pairs = [(labels[:, :-1], labels[:, 1:]), (labels[:-1], labels[1:])]
    edges = [
        np.stack([f.boolean_mask(one, one != other), f.boolean_mask(other, one != other)], axis=1)
        for one, other in pairs
    ]
    edges = np.sort(np.concatenate(edges), axis=1)
    edges, borders = f.unique(edges, axis=0, return_counts=True)
    edges = f.boolean_mask(edges, borders >= MIN_BORDER)
    nodes, edges = f.unique(edges, return_inverse=True)
    _, degrees = f.unique(edges, return_counts=True)
    return {"nodes": nodes, "edges": edges, "degrees": degrees}


if __name__ == "__main__":
    start(main)
