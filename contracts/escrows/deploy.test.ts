import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestClient, type Hex, http, publicActions, walletActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { withAnvil } from '../evm/anvil.ts';
import { DeploymentError, deployer } from '../evm/create2.ts';
import { deployDevToken, initCodeOf } from '../evm/dev-tokens.ts';
import { type EscrowRecord, recordIn, writeRecord } from '../records.ts';
import { deployment } from './artifacts/abi.ts';
import {
  command,
  deployContracts,
  evmRecordFault,
  evmRecordOf,
  verifyDeployment,
} from './deploy.ts';
import { domainOf, shardOf } from './ids.ts';

// anvil's first and public account
const privateKey: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

function anvilClient(rpcUrl: string) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) }).extend(
    publicActions,
  );
}

type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** In this process: starting one for each call took half of the time of this file. */
async function commandLine(args: string[], key: string | undefined): Promise<Ran> {
  const seen = { out: '', err: '' };
  const out = (line: string) => {
    seen.out += `${line}\n`;
  };
  const err = (line: string) => {
    seen.err += `${line}\n`;
  };
  return { code: await command(args, { out, err, key: () => key }), ...seen };
}

function commandProcess(args: string[], key: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'deploy.ts'), ...args], {
      env: { ...process.env, PARLEY_DEPLOYER_KEY: key },
      signal: AbortSignal.timeout(60_000),
    });
    const seen = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => {
      seen.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      seen.err += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, ...seen }));
  });
}

test('two chains get the same addresses and code, and a repetition sends nothing', async () => {
  for (const chainId of [31337, 31338]) {
    await withAnvil(
      async (rpcUrl) => {
        assert.equal((await verifyDeployment({ rpcUrl })).ok, false);
        const first = await deployContracts({ rpcUrl, privateKey });
        assert.equal(first.chainId, chainId);
        assert.equal(first.contract, deployment.address);
        assert.match(first.txHash ?? '', /^0x[0-9a-f]{64}$/);
        const block = await anvilClient(rpcUrl).getBlockNumber();
        const account = privateKeyToAccount(privateKey);
        assert.equal((await deployContracts({ rpcUrl, account })).txHash, null);
        assert.equal(await anvilClient(rpcUrl).getBlockNumber(), block);
        const verified = await verifyDeployment({ rpcUrl });
        assert.equal(verified.ok, true);
        assert.equal(verified.domain, domainOf(chainId, deployment.address));
      },
      ['--chain-id', String(chainId)],
    );
  }
});

test('other code at the address, and a contract of another chain, are refused', async () => {
  await withAnvil(async (rpcUrl) => {
    await deployContracts({ rpcUrl, privateKey });
    const { address } = deployment;
    const client = anvilClient(rpcUrl);
    const elsewhere = await client.getCode({ address });
    const isRefused = (error: unknown) =>
      error instanceof DeploymentError && error.code === 'code_differs';
    await client.setCode({ address, bytecode: '0x6001' });
    await assert.rejects(deployContracts({ rpcUrl, privateKey }), isRefused);
    assert.deepEqual((await verifyDeployment({ rpcUrl })).ok, false);
    await withAnvil(
      async (other) => {
        await anvilClient(other).setCode({ address, bytecode: elsewhere as Hex });
        await assert.rejects(deployContracts({ rpcUrl: other, privateKey }), isRefused);
      },
      ['--chain-id', '31338'],
    );
  });
});

test('a chain without the CREATE2 deployer, or with an impostor there, is refused', async () => {
  await withAnvil(async (rpcUrl) => {
    for (const bytecode of ['0x', '0x6001'] as const) {
      await anvilClient(rpcUrl).setCode({ address: deployer.address, bytecode });
      await assert.rejects(
        deployContracts({ rpcUrl, privateKey }),
        (error) => error instanceof DeploymentError && error.code === 'deployer_missing',
      );
    }
  });
});

test('the command deploys, says so, verifies, records, and is repeatable', async (context) => {
  const records = mkdtempSync(join(tmpdir(), 'parley-deployments-'));
  context.after(() => rmSync(records, { recursive: true, force: true }));
  await withAnvil(async (rpcUrl) => {
    const common = ['--rpc', rpcUrl, '--records', records];
    const missing = await commandLine([...common, '--verify'], undefined);
    assert.equal(missing.code, 1);
    assert.match(missing.out, /code none domain none NOT as pinned/);
    const keyless = await commandLine(common, undefined);
    assert.equal(keyless.code, 1);
    assert.match(keyless.err, /PARLEY_DEPLOYER_KEY/);
    const poor = await commandLine(common, `0x${'11'.repeat(32)}`);
    assert.equal(poor.code, 1);
    assert.match(poor.err, /^0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A: /);
    assert.ok(poor.err.length < 600, `${poor.err.length} characters`);
    const first = await commandProcess(common, privateKey);
    assert.equal(first.code, 0, first.err);
    assert.match(first.out, /chain 31337: 0x[0-9a-fA-F]{40} deployed by 0x[0-9a-f]{64}/);
    const record = recordIn<EscrowRecord>('evm-31337', records);
    assert.equal(record?.network, 'evm-31337');
    // The command has nothing to send: no key is asked for.
    const second = await commandLine(common, undefined);
    assert.equal(second.code, 0, second.err);
    assert.match(second.out, /was there already\nrecorded in \S+evm-31337.json\n/);
    const verified = await commandLine([...common, '--verify'], undefined);
    assert.equal(verified.code, 0);
    assert.match(verified.out, / as pinned\s+evm-31337: made by 0x[0-9a-f]{64} at \d{4}-/);
    assert.match(verified.out, /, as recorded\n$/);
    assert.ok(
      ![first, second].some(({ out, err }) => `${out}${err}`.includes(privateKey.slice(2))),
    );
    const shard = await commandLine([...common, '--shard', '2'], privateKey);
    assert.equal(shard.code, 0, shard.err);
    const beside = recordIn<EscrowRecord>('evm-31337-shard-2', records);
    assert.equal(beside?.contract, shardOf(2).address);
    // Which shard a network has is in its record.
    const named = [...common, '--network', 'evm-31337-shard-2', '--verify'];
    assert.match((await commandLine(named, undefined)).out, /shard-2: made by .*, as recorded\n$/);
    const other = { ...(beside as EscrowRecord), network: 'evm-31337' };
    assert.throws(() => writeRecord(other, records), /evm-31337.json is of 0x\w+, not of 0x/);
    writeRecord({ ...(record as EscrowRecord), payer: deployer.address }, records);
    const changed = await commandLine([...common, '--verify'], undefined);
    assert.equal(changed.code, 1);
    assert.match(changed.out, /payer is 0x\w+, and 0x4e59b448\w+ is recorded/);
    const again = await commandLine(common, undefined);
    assert.equal(again.code, 1);
    assert.match(again.out, /evm-31337.json: payer is 0x\w+, and 0x4e59b448\w+ is recorded/);
    assert.doesNotMatch(again.out, /recorded in/);
  });
});

test('the command names a node that is away, without its key, and no such shard', async () => {
  const away = ['--rpc', 'http://127.0.0.1:1/a-secret', '--verify'];
  const silent = await commandLine(away, undefined);
  assert.match(silent.err, /^the node at 127.0.0.1:1: /);
  assert.doesNotMatch(silent.err, /a-secret/);
  const none = await commandLine(['--rpc', 'http://127.0.0.1:1', '--shard', '256'], privateKey);
  assert.match(none.err, /--shard is a number from 0 to 255, not 256/);
});

test('a record is the same whoever writes it, and says what made the contract', async () => {
  await withAnvil(async (rpcUrl) => {
    const client = anvilClient(rpcUrl);
    await client.mine({ blocks: 5 });
    const { txHash } = await deployContracts({ rpcUrl, privateKey });
    const at = await client.getBlockNumber();
    await client.mine({ blocks: 3 });
    const record = await evmRecordOf({ rpcUrl }, 'dev', txHash);
    const { timestamp } = await client.getBlock({ blockNumber: at });
    assert.deepEqual(record, {
      network: 'dev',
      family: 'evm',
      chainId: 31_337,
      contract: deployment.address,
      sha256: deployment.initCode.sha256.slice(2),
      bytes: deployment.initCode.bytes,
      payer: privateKeyToAccount(privateKey).address,
      transaction: txHash,
      block: Number(at),
      deployedAt: new Date(Number(timestamp) * 1_000).toISOString(),
    });
    // Found by the state of blocks, where nobody knows it any more.
    assert.deepEqual(await evmRecordOf({ rpcUrl }, 'dev', null), record);
    assert.equal(await evmRecordFault({ rpcUrl }, record), null);
    const account = privateKeyToAccount(privateKey);
    const wallet = client.extend(walletActions);
    const other = await wallet.sendTransaction({ account, to: account.address, value: 1n });
    for (const [part, words] of [
      [{ chainId: 1 }, /of chain 31337, not 1 as recorded/],
      [{ contract: deployer.address }, /is pinned/],
      [{ sha256: '00'.repeat(32) }, /other init code/],
      [{ bytes: 1 }, /of 1 bytes is recorded: other init code/],
      [{ family: 'tron' }, /a record of tron/],
      [{ transaction: `0x${'00'.repeat(32)}` }, /knows no transaction/],
      [{ transaction: other }, /no call of the CREATE2 deployer/],
      [{ block: 1 }, /block is \d+, and 1 is recorded/],
      [{ deployedAt: '2026-01-01T00:00:00.000Z' }, /deployedAt is/],
    ] as const) {
      const fault = await evmRecordFault({ rpcUrl }, { ...record, ...part } as EscrowRecord);
      assert.match(fault ?? '', words);
    }
  });
});

test('development tokens land where their init code says, once', async () => {
  await withAnvil(async (rpcUrl) => {
    const options = { rpcUrl, privateKey };
    const token = await deployDevToken(options, initCodeOf('DevDollar'));
    assert.equal(token, '0x7B06b981F7bc7C87AA4B988Aba4DD5e20FF0fABE');
    const block = await anvilClient(rpcUrl).getBlockNumber();
    await deployDevToken(options, initCodeOf('DevDollar'));
    assert.equal(await anvilClient(rpcUrl).getBlockNumber(), block);
  });
});
