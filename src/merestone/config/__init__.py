"""Settings from files, environment and flags: flag > environment > project > user > default."""

from merestone.config.access import AccessConfiguration
from merestone.config.chunking import chunking_settings
from merestone.config.files import STATE_FOLDER, config_files, find_root
from merestone.config.first_file import starter
from merestone.config.settings import load_settings
from merestone.config.written import WRITTEN, note_written, written_files

__all__ = [
    "STATE_FOLDER",
    "WRITTEN",
    "AccessConfiguration",
    "chunking_settings",
    "config_files",
    "find_root",
    "load_settings",
    "note_written",
    "starter",
    "written_files",
]
