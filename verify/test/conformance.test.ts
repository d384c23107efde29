// The conformance command, against the simulator as if it were a node that somebody else runs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { tronAddressOfKey } from '@parley/chains/tron/proof.ts';
import { tronChain } from '@parley/dev/devnet/tron-chain.ts';

const run = promisify(execFile);
const limits = { timeout: 240_000 };
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = '41'.repeat(32);
const address = tronAddressOfKey(Buffer.from(key, 'hex'));
/** All of them in the soak: every promise is kept on this simulator by verify/test/adapters.test.ts. */
const isSoak = process.env.PARLEY_TEST_CONFORMANCE === 'all';
/** A promise that is not run any more, or a new one, is noticed here. */
const kept = isSoak
  ? /\n27 kept, 0 broken, 9 not run, of 34\n$/
  : /\n2 kept, 0 broken, 1 not run, of 34\n$/;

async function folder(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return dir;
}

async function conformance(t: TestContext, where: Readonly<Record<string, string>>) {
  const keyFile = join(await folder(t), 'key');
  await writeFile(keyFile, `${key}\n`, { mode: 0o600 });
  const given = { ...where, 'key-file': keyFile, ...(isSoak ? {} : { only: 'a funding ' }) };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const script = join(import.meta.dirname, 'adapters', 'conformance.ts');
  return run(process.execPath, [script, ...args], { timeout: 230_000 }).catch(
    (error: { stdout: string; stderr: string }) => assert.fail(`${error.stdout}\n${error.stderr}`),
  );
}

test(
  'promises that need no clock of ours are kept on a TRON node that is given by its URL',
  limits,
  async (t) => {
    const clock = { now: () => Math.floor(Date.now() / 1_000) };
    const ports = { solidityLag: 5, hasSolidityPort: true };
    const chain = await tronChain('tron-dev', {
      dir: await folder(t),
      log: quiet,
      clock,
      ...ports,
    });
    t.after(() => chain.stop());
    const { rpcUrl: url, escrows: contract, escrowsCreation: creation, tokens } = chain.info;
    const token = tokens?.[0]?.address ?? '';
    for (const each of [null, token]) await chain.give({ address, token: each, amount: null });
    // Blocks come by themselves, whatever anybody does.
    let mining = Promise.resolve();
    const timer = setInterval(() => {
      mining = mining.then(() => chain.mine(1)).catch(() => undefined);
    }, 500);
    t.after(() => clearInterval(timer));
    const { solidityUrl } = chain.simulator;
    const where = { url, 'solidity-url': solidityUrl, contract, creation, token };
    const { stdout } = await conformance(t, where);
    assert.match(stdout, kept);
    assert.match(stdout, /not run: a funding that a reorganisation takes away/);
  },
);
