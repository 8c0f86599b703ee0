"""Which files of this directory need what a target of its own builds: they are collected where its variable is set."""

import os

BUILT = {
    "test_bundle.py": "CONTRAST_KRM_BUNDLE",  # the archive; `make bundle`
    "test_other_bundle.py": "CONTRAST_KRM_BUNDLE",  # the archive beside it is that of the other kind of machine
    "test_image.py": "CONTRAST_KRM_IMAGE",  # set by `make image`, which leaves the image in out/image and dist
    "test_image_hosts.py": "CONTRAST_KRM_IMAGE",
    "test_image_page.py": "CONTRAST_KRM_IMAGE",
    "test_image_root.py": "CONTRAST_KRM_IMAGE",
}

collect_ignore = [name for name, variable in BUILT.items() if not os.environ.get(variable)]
