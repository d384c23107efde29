// The terminal of a command in tests: no person can be asked, and its output is kept.

import assert from 'node:assert/strict';
import type { Io } from '@parley/trader/io.ts';

export function testIo(home: string, more: Partial<Io> = {}) {
  const said = { out: '', err: '' };
  const nobody = async () => assert.fail('nobody can be asked');
  const io: Io = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    isAsked: false,
    env: { HOME: home },
    cwd: home,
    signal: new AbortController().signal,
    ask: nobody,
    askHidden: nobody,
    readDescriptor: nobody,
    ...more,
  };
  return { io, said };
}
