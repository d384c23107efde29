// A service manager's ear: a datagram socket of the file system, which Node itself cannot bind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Prints a line for each datagram. */
const listener = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(s.recv(4096).decode().replace('\\n', ' '), flush=True)
`;

export type NotifySocket = {
  readonly socket: string;
  /** The first message that was not taken yet; '' when it was closed. */
  next(): Promise<string>;
  close(): Promise<void>;
};

export async function notifySocket(): Promise<NotifySocket> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-notify-'));
  const socket = join(dir, 'notify');
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  const child = spawn('python3', ['-c', listener, socket], { stdio: [...stdio] });
  const closed = once(child, 'close');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => {
    for (;;) {
      const { value = '' } = (await lines.next()) as { value?: string };
      // With it `systemd-notify` waits until its words were read.
      if (value !== 'BARRIER=1') return value;
    }
  };
  if ((await next()) !== 'bound') throw new Error('python3 bound no socket');
  return {
    socket,
    next,
    close: async () => {
      child.kill('SIGKILL');
      await closed;
      await rm(dir, { recursive: true, force: true });
    },
  };
}
