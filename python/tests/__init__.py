"""Tests of the installed wheel, run by test/python.test.ts."""
