"""The kinds of contrast-krm.dev/v1alpha1: records, parsing, JSON Schemas.

Rule of this package: documents in, records and findings out. It reads no files; a configuration is either understood in
full or refused.
"""

from krm_function.api.collect_config import collect, options_in
from krm_function.api.contrast_generate import parse_generate
from krm_function.api.contrast_release import parse_release
from krm_function.api.document import CONFIG_KINDS, ConfigDocument, is_config
from krm_function.api.image_lock import parse_image_lock
from krm_function.api.records import Config, Generate, ImageFacts, Release

__all__ = [
    "CONFIG_KINDS",
    "Config",
    "ConfigDocument",
    "Generate",
    "ImageFacts",
    "Release",
    "collect",
    "is_config",
    "options_in",
    "parse_generate",
    "parse_image_lock",
    "parse_release",
]
