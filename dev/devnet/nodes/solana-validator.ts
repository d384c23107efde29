// A real Solana validator in the place of the simulator, where PARLEY_SOLANA_VALIDATOR is its
// program: it is called with a port, a folder, a file for the key that owns all coins, and files of
// accounts to begin with. It begins anew at each start; slots and clock are its own.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import deployment from '@parley/contracts/solana/deployment.json' with { type: 'json' };
import { DevnetError, RefusedRequest } from '@parley/host/failure.ts';
import { freePort } from '@parley/host/free-port.ts';
import type { Log } from '@parley/host/log.ts';
import { type Address, getAddressEncoder, getProgramDerivedAddress } from '@solana/kit';
import { type Account, SYSTEM } from '../../simulators/solana/accounts.ts';
import {
  dollarAccount,
  dollarMint,
  faucetAddress,
  faucetLamports,
} from '../../simulators/solana/faucet.ts';
import type { DevChain, Gift } from '../dev-chain.ts';
import { loopback, startProgram } from '../processes.ts';
import { type Rpc, rpcTo } from '../rpc.ts';
import { devDollar, giftOn } from '../solana-chain.ts';

export type ValidatorOptions = {
  readonly validator: string;
  readonly dir: string;
  readonly log: Log;
};

const readyLimitMs = 180_000;
const minedLimitMs = 120_000;
const pollMs = 300;
const loader = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address;
const mintRent = 1_461_600n;
const programRent = 10_000_000_000n;

export async function validatorChain(chain: string, options: ValidatorOptions): Promise<DevChain> {
  const { validator, dir, log } = options;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const port = await freePort();
  const program = {
    name: 'solana-validator',
    file: validator,
    args: [String(port), 'ledger', 'owner.key', ...(await writeAccounts(dir))],
    env: {
      RUST_LOG: 'error',
      RUST_MIN_STACK: '67108864',
      LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH ?? '',
    },
    folder: dir,
  };
  const rpcUrl = `http://${loopback}:${port}`;
  const rpc = rpcTo(rpcUrl);
  const slot = (commitment: string) => rpc<number>('getSlot', [{ commitment }]);
  const { running } = await startProgram(program, readyLimitMs, async () => {
    if ((await slot('finalized')) < 1) throw new Error('no slot is final yet');
  });
  const { 'solana-core': version } = await rpc<{ 'solana-core': string }>('getVersion');
  const clock = async () =>
    (await rpc<number | null>('getBlockTime', [await slot('finalized')])) ?? 0;
  return {
    info: {
      chain,
      family: 'solana',
      rpcUrl,
      node: { name: 'solana-validator', version },
      hasOwnClock: true,
      program: deployment.program,
      genesisHash: await rpc<string>('getGenesisHash'),
      tokens: [devDollar],
    },
    nativeSymbol: 'SOL',
    head: async () => {
      const time = await clock();
      return { height: await slot('processed'), time, medianTime: time };
    },
    mine: async (blocks) => {
      const wanted = (await slot('processed')) + blocks;
      while ((await slot('processed')) < wanted) await sleep(pollMs);
    },
    give: (gift) => give(rpc, gift),
    moveTo: async () => log.warn({ chain }, 'the clock of a real node is its own'),
    tick: async () => undefined,
    setAutomatic: async () => undefined,
    stop: () => running.stop(),
  };
}

/** The program as pinned, without an upgrade authority; the faucet and its dollar. */
async function writeAccounts(dir: string): Promise<string[]> {
  const code = join(import.meta.dirname, '../../../contracts/solana/parley_escrow.so');
  const program = deployment.program as Address;
  const encoded = (of: Address) => Buffer.from(getAddressEncoder().encode(of));
  const seeds = [encoded(program)];
  const [programData] = await getProgramDerivedAddress({ programAddress: loader, seeds });
  const pointer = Buffer.concat([Buffer.from([2, 0, 0, 0]), encoded(programData)]);
  const meta = Buffer.alloc(45);
  meta.writeUInt32LE(3);
  const owned = (data: Uint8Array, executable: boolean): Account => {
    return { lamports: programRent, owner: loader, data, executable };
  };
  const all: readonly (readonly [Address, Account])[] = [
    [program, owned(pointer, true)],
    [programData, owned(Buffer.concat([meta, await readFile(code)]), false)],
    [dollarMint, dollarAccount(mintRent)],
    [
      faucetAddress,
      { lamports: faucetLamports, owner: SYSTEM, data: Buffer.alloc(0), executable: false },
    ],
  ];
  return Promise.all(
    all.map(async ([pubkey, { lamports, owner, data, executable }], at) => {
      const body = [Buffer.from(data).toString('base64'), 'base64'];
      const account = { data: body, owner, executable, space: data.length };
      // Numbers that a double cannot hold.
      const json = JSON.stringify({ pubkey, account }).replace(
        '"account":{',
        `"account":{"lamports":${lamports},"rentEpoch":18446744073709551615,`,
      );
      const file = `account-${at}.json`;
      await writeFile(join(dir, file), json);
      return file;
    }),
  );
}

type Statuses = { readonly value: ({ err: unknown; confirmationStatus: string } | null)[] };

async function give(rpc: Rpc, gift: Gift) {
  const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', [
    { commitment: 'confirmed' },
  ]);
  const { wire, amount } = await giftOn({ ...value, height: 0 }, gift);
  const text = Buffer.from(wire.bytes).toString('base64');
  const txid = wire.signature;
  for (const end = performance.now() + minedLimitMs; performance.now() < end; ) {
    // The same bytes run once, however often they are sent.
    await rpc('sendTransaction', [text, { encoding: 'base64', skipPreflight: true }]);
    const { value: known } = await rpc<Statuses>('getSignatureStatuses', [[txid]]);
    const [status = null] = known;
    if (status?.err) throw new RefusedRequest(409, `The gift ${txid} failed on chain.`);
    if (status !== null && status.confirmationStatus !== 'processed') return { txid, amount };
    await sleep(pollMs);
  }
  throw new DevnetError(`the gift ${txid} came into no block`);
}
