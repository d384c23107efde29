"""Tests of the installed wheel, run by verify/test/python.test.ts."""
