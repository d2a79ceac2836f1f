"""Run the command line as ``python -m oort_flows``."""

from oort_flows.cli import main

if __name__ == "__main__":
    main()
