# SPDX-License-Identifier: Apache-2.0
"""A terminal that a test types into and looks at: tmux, with a server of its own."""

import os
import shutil
import subprocess
import tempfile

import e2e


class Terminal:
    """Runs a command in a terminal of so many columns and rows. Ends with the `with` block."""

    def __init__(self, *command, columns=80, rows=24, **environment):
        if not shutil.which("tmux"):
            raise e2e.Skip("tmux is not installed (Debian package tmux)")
        self.folder = tempfile.TemporaryDirectory()
        self.status = os.path.join(self.folder.name, "status")
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "TERM", "COLUMNS", "LINES", "LC_ALL", "LANG")}
        env |= {"TMUX_TMPDIR": self.folder.name, "LC_ALL": "C.UTF-8", "TZ": "UTC"} | environment
        self.env = env
        set_type = [f"TERM={environment['TERM']}"] if "TERM" in environment else []
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-s", "t", "--",
                   "sh", "-c", 'status=$1; shift; "$@"; echo $? >"$status.new"; mv "$status.new" "$status"; exec sleep 1000', "sh", self.status,
                   "env", *set_type, *command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "kill-server"], env=self.env, capture_output=True, timeout=e2e.TIMEOUT, check=False)
        self.folder.cleanup()

    def _tmux(self, *words):
        done = subprocess.run(["tmux", *words], env=self.env, capture_output=True, text=True, timeout=e2e.TIMEOUT, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def press(self, *keys):
        """Names such as Down and Enter, or characters."""
        for key in keys:
            self._tmux("send-keys", "-t", "t", *(["-l"] if len(key) == 1 and not key.isalnum() else []), key)

    def resize(self, columns, rows):
        self._tmux("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows))

    def lines(self, colours=False):
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []), "-t", "t").split("\n")

    def pid(self):
        """Of the command's shell."""
        return int(self._tmux("display-message", "-p", "-t", "t", "#{pane_pid}"))

    def wait(self, *texts, where=lambda lines: True):
        """The lines, as soon as all texts are among them, they are as where(lines) says, and they stand still: a picture arrives in
        pieces."""
        lines = []

        def look():
            before, lines[:] = lines[:], self.lines()
            return lines == before and where(lines) and all(any(text in line for line in lines) for text in texts)
        try:
            e2e.wait_for(look, f"{texts}", pause=0.1)
        except AssertionError as error:
            raise AssertionError(str(error) + "; the terminal shows:\n" + "\n".join(lines)) from None
        return lines

    def ended(self):
        """Its exit status; waits for it."""
        e2e.wait_for(lambda: os.path.exists(self.status), "its end")
        return int(e2e.read_text(self.status))
