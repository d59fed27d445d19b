"""The stars and galaxies in a photograph: the place and the colour of each of them.

SciPy labels the regions of the Hubble Deep Field, an image of scikit-image. Regions of fewer than
five pixels are removed; for all others, the centre of brightness and the mean colour are computed.
"""

import numpy as np
import scipy.ndimage
import skimage.data
from shared import start

MIN_PIXELS = 5


def main(f, step=1):
    image = skimage.data.hubble_deep_field()[::step, ::step].astype(np.float32)
    brightness = image.mean(axis=2)
    labels, _ = scipy.ndimage.label(brightness > brightness.mean() + brightness.std())

    names, first, sizes = f.unique(labels, return_index=True, return_counts=True)
    large = sizes >= MIN_PIXELS
    large[0] = False  # the sky
    region_of_label = np.cumsum(large) - 1

    in_large = large[labels]
    rows, columns = f.nonzero(in_large)
    regions = region_of_label[f.boolean_mask(labels, in_large)]
    light = f.boolean_mask(brightness, in_large)
    colours = f.boolean_mask(image, in_large)

    total = np.bincount(regions, light)
    centres = [np.bincount(regions, light * axis) / total for axis in (rows, columns)]
    means = [np.bincount(regions, colour) / f.boolean_mask(sizes, large) for colour in colours.T]
    return {
        "names": f.boolean_mask(names, large),
        "first": f.boolean_mask(first, large),
        "centres": np.stack(centres),
        "colours": np.stack(means),
    }


if __name__ == "__main__":
    start(main)
