// `parley completion`.

import { answer } from '@parley/trader/io.ts';
import type { Run } from '../command.ts';
import { shells } from '../completion.ts';

export const completion: Run = async (cli, { args: [shell] }) => {
  const script = shells[shell as keyof typeof shells]();
  answer(cli, { shell, script }, script.trimEnd());
};
