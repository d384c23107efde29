import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { untilTested } from '../testing/nodes.ts';
import { refuses } from '../testing/refusals.ts';
import { defaultPowerRules, type Inspection } from '../tokens/inspection.ts';
import { selectorOf } from '../tokens/words.ts';
import { type TronAdapter, tronAdapter } from './adapter.ts';
import { tronHex } from './address.ts';
import { bareAddress } from './plan.ts';
import { tronDevPolicy } from './policy.ts';
import { funder, newcomer, signal, startTron } from './testing/chain.ts';
import { type Lie, lyingNode } from './testing/nodes.ts';
import { byOwner, deployCode, deployProxy, deployToken } from './testing/tokens.ts';

const chain = await startTron();
after(() => chain.stop());
const lying = untilTested((lie: Lie) => lyingNode(chain.url, lie));

function adapterOf(url = chain.url): TronAdapter {
  return tronAdapter({
    chain: 'tron-dev',
    deployment: chain.deployment,
    sources: [{ url }],
    policy: tronDevPolicy,
    http: { attemptTimeoutMs: 5_000, rounds: 1 },
  });
}

async function lookAt(token: string, rules = defaultPowerRules): Promise<Inspection> {
  const { inspect } = adapterOf();
  assert.ok(inspect);
  return inspect(token, rules, signal());
}

function against({ findings }: Inspection): string[] {
  return findings
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ check, outcome, reason }) => `${check} ${outcome}: ${reason}`);
}

const checks = [
  ...['contract', 'transfer', 'limit', 'rebase'],
  ...['pausable', 'blacklist', 'mintable', 'upgradeable'],
];

async function finds(name: string, token: string, ...expected: readonly RegExp[]) {
  const found = against(await lookAt(token));
  process.stdout.write(`# ${name.padEnd(22)} ${found.join(' | ') || 'passes all'}\n`);
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [at, each] of found.entries()) assert.match(each, expected[at] as RegExp);
}

test('a good token passes every check, and is named as it names itself', async () => {
  const token = await deployToken(chain, 'Plain');
  assert.deepEqual(await lookAt(token), {
    address: token,
    symbol: 'PLAIN',
    name: 'Plain Token',
    decimals: 18,
    findings: checks.map((check) => ({ check, outcome: 'pass', reason: null })),
  });
  // In hex it is the same token.
  assert.equal((await lookAt(tronHex(token))).address, token);
});

const matrix: Readonly<Record<string, readonly RegExp[]>> = {
  Plain: [],
  AnswersFalse: [],
  Shared: [/^rebase wait: it shows a balance of \d+ where \d+ is written/],
  Bytes32Names: [],
  HugeSymbol: [/^contract wait: .*symbol\(\) gives no readable text/],
  LongSymbol: [],
  Fee: [/^transfer reject: .* the escrow gets 970{19}, 30{19} or 3\.00 % less$/],
  Kept: [
    /^transfer reject: it refuses to be passed on by who received it: it says "Bought is bought"$/,
  ],
  TimeTrap: [/^transfer reject: it refuses a claim of 1 out of the escrow: it says "over"$/],
  StopsNow: [
    /^transfer reject: .* a payment of 1 into the escrow: it reverts with the error 0x[0-9a-f]{8} /,
  ],
  PausesAndLoops: [/^transfer reject: .* more than the 1000000 energy of a trial$/, /^pausable/],
  LoopsInBalance: [
    /^contract reject: its balanceOf.* takes more than the 1000000 energy of a trial$/,
  ],
  ManyDecimals: [/^contract reject: it has 255 decimals; the most is 36$/, /^transfer reject/],
  Generous: [
    /^contract reject: it shows a balance of 5 for an address that nobody ever used$/,
    /^transfer reject: it moves more than it is told to: for 1 the receiver of a claim gets 6$/,
    /^rebase wait/,
  ],
  Limited: [
    /^limit wait: it moves 1 and 10{21} units, but refuses a payment of 50{22}.*"over the limit"$/,
  ],
  NotYetOpen: [/^transfer wait: .*"not open yet"$/],
  HiddenOwner: [/^pausable wait: T\w{33}, whom its owner\(\) does not name, can stop/],
  AnybodyMints: [/^mintable wait: anybody can make more of it: its code has mint\(\)$/],
  SharesBehind: [
    /^transfer reject: it moves more/,
    /^rebase reject: a balance of \d+ becomes \d+ within 30 days by itself$/,
  ],
  TwoBooks: [/^transfer wait: .* no balance of it could be lent/],
  ReadsALot: [
    /^transfer wait: it could not be looked at whole: it reads more than 400 words/,
    /^rebase wait/,
  ],
  Pausable: [
    /^pausable wait: its owner T\w{33} can stop all transfers: its code has paused\(\), pause\(\)/,
  ],
  Blacklisting: [
    /^blacklist wait: its owner T.* single holders: its code has isBlackListed\(\), add/,
  ],
  Mintable: [/^mintable wait: its owner T\w{33} can make more of it: its code has mint\(\)$/],
};

for (const [name, expected] of Object.entries(matrix)) {
  test(`${name} is found to be what it is`, async () => {
    await finds(name, await deployToken(chain, name), ...expected);
  });
}

const notToken = (words: RegExp) => refuses('not_a_token', words);

test('an account, an unused address, a TRC-10 asset and another contract are no token', async () => {
  await assert.rejects(lookAt(funder.address), notToken(/it is an account without a contract/));
  await assert.rejects(lookAt(newcomer()), notToken(/the address was never used/));
  await assert.rejects(lookAt('1002000'), notToken(/TRC-10/));
  const other = await deployToken(chain, 'NotAToken');
  await assert.rejects(lookAt(other), notToken(/does not answer balanceOf/));
  await assert.rejects(lookAt(chain.deployment.contract), notToken(/does not answer totalSupply/));
});

test('a power is moot once its owner is nobody, unless there are roles', async () => {
  const [plain, roles] = [await deployToken(chain, 'Pausable'), await deployToken(chain, 'Roles')];
  for (const token of [plain, roles]) await byOwner(chain, token, 'renounceOwnership()');
  await finds('Pausable', plain);
  await finds('Roles', roles, /^mintable wait: who has a right by hasRole\(\) can make more/);
});

test('what is paused is looked at again, and what nobody can let go is not', async () => {
  const token = await deployToken(chain, 'Pausable');
  await byOwner(chain, token, 'pause()');
  const refusal = /it refuses a payment of 1 into the escrow: it says "paused"$/;
  await finds('Pausable', token, new RegExp(`^transfer wait: ${refusal.source}`), /^pausable wait/);
  await byOwner(chain, token, 'renounceOwnership()');
  const stays = /^pausable wait: its transfers are stopped: paused\(\) answers true now$/;
  await finds('Pausable', token, new RegExp(`^transfer reject: ${refusal.source}`), stays);
});

test('who can replace the code is found, by standard or not', async () => {
  const good = await deployToken(chain, 'PlainBehind');
  const governed = await deployProxy(chain, good, funder.address);
  await finds(
    'Proxy',
    governed,
    new RegExp(`^upgradeable reject: .*: ${funder.address} may put other code there$`),
  );
  assert.equal((await lookAt(governed)).symbol, 'PLAIN');
  const nobody = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';
  const without = await deployProxy(chain, good, nobody);
  await finds(
    'Proxy',
    without,
    /^upgradeable reject: its code is behind a proxy .* whose code can be replaced$/,
  );
  // Its administrator is a contract that has no owner any more.
  const admin = await deployToken(chain, 'Pausable');
  await byOwner(chain, admin, 'renounceOwnership()');
  await finds('Proxy', await deployProxy(chain, good, admin));
  const loose = await deployToken(chain, 'LooseProxy', good);
  await byOwner(chain, loose, 'begin()');
  await finds(
    'LooseProxy',
    loose,
    /^upgradeable reject: its code runs other code that it looks up/,
  );
});

/** A clone of `target` (EIP-1167) that runs something before, which leaves the stack empty. */
function cloneOf(target: string, first = '', behind = ''): string {
  const jump = (0x2b + first.length / 2).toString(16).padStart(2, '0');
  const start = `${first}363d3d373d3d3d363d73${bareAddress(target).slice(2)}5af43d82803e903d91`;
  return `${start}60${jump}57fd5bf3${behind}`;
}
const empty = /^contract wait: its total supply is 0/;

test('a clone of one contract for good passes, and what can look elsewhere waits', async () => {
  const good = await deployToken(chain, 'Plain');
  await finds('a clone', await deployCode(chain, cloneOf(good)), empty);
  // SLOAD
  const door = await deployCode(chain, cloneOf(good, '5f5450'));
  await finds('a door', door, empty, /^upgradeable wait: its code can run the code of other/);
});

test('code that may replace itself is found behind an admin that nobody rules', async () => {
  const admin = await deployToken(chain, 'Pausable');
  await byOwner(chain, admin, 'renounceOwnership()');
  const upgrades = cloneOf(
    await deployToken(chain, 'PlainBehind'),
    `63${selectorOf('upgradeTo(address)')}50`,
  );
  const proxy = await deployProxy(chain, await deployCode(chain, upgrades), admin);
  await finds('Proxy', proxy, /^upgradeable reject: .* can be replaced, by upgradeTo\(\)$/);
});

test('nothing is given up while somebody may become the owner', async () => {
  const pausable = await deployToken(chain, 'Pausable');
  await finds('a clone', await deployCode(chain, cloneOf(pausable)), empty);
  const asks = `5f3560e01c63${selectorOf('pendingOwner()')}14603b57`;
  const answers = `5b73${bareAddress(funder.address).slice(2)}5f5260205ff3`;
  const heir = await deployCode(chain, cloneOf(pausable, asks, answers));
  const itsOwner = new RegExp(`^pausable wait: its owner ${funder.address} can stop`);
  await finds('an heir', heir, empty, itsOwner, /^upgradeable wait/);
});

test('a successor may be named by an owner, and by nobody once he is gone', async () => {
  const token = await deployToken(chain, 'Replaceable');
  const rejected = /^upgradeable reject: .* replaced by deprecate\(\): its owner T\w{33} may$/;
  await finds('Replaceable', token, rejected);
  await byOwner(chain, token, 'renounceOwnership()');
  await finds('Replaceable', token);
  const replaced = await deployToken(chain, 'Replaced');
  await byOwner(chain, replaced, 'renounceOwnership()');
  await finds('Replaced', replaced, /^upgradeable wait: .*: deprecated\(\) answers true$/);
});

test('balances behind a proxy are tried through it', async () => {
  const admin = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';
  const proxied = async (name: string) => deployProxy(chain, await deployToken(chain, name), admin);
  const upgrades = /^upgradeable reject/;
  const grows = /^rebase reject: a balance of \d+ becomes \d+ within 30 days by itself$/;
  await finds('Proxy', await proxied('SharesBehind'), /^transfer reject/, grows, upgrades);
  await finds('Proxy', await proxied('Shared'), /^rebase wait: it shows a/, upgrades);
});

test('powers of what a proxy stands for are powers over it', async () => {
  const minted = await deployToken(chain, 'Mintable');
  const proxy = await deployToken(chain, 'LooseProxy', minted);
  await finds('LooseProxy', proxy, empty, /^mintable wait/, /^upgradeable reject/);
});

test('the rules say what becomes of a power', async () => {
  const token = await deployToken(chain, 'Mintable');
  const lenient = { ...defaultPowerRules, mintable: 'pass' } as const;
  assert.deepEqual(against(await lookAt(token, lenient)), []);
  const strict = { ...defaultPowerRules, mintable: 'reject' } as const;
  assert.match(against(await lookAt(token, strict)).join(), /^mintable reject/);
});

async function withLie<T>(lie: Lie, use: (adapter: TronAdapter) => Promise<T>): Promise<T> {
  const node = await lying((asked, forward) =>
    asked.path === 'jsonrpc' ? lie(asked, forward) : forward(),
  );
  return await use(adapterOf(node.url));
}

test('a node whose storage is not what its contracts see speaks for and against nothing', async () => {
  const token = await deployToken(chain, 'Pausable');
  // As java-tron answered for what CREATE2 made: an owner of nobody, and a supply of nothing.
  const zeros = { jsonrpc: '2.0', id: 1, result: `0x${'0'.repeat(64)}` };
  await withLie(
    () => ({ body: zeros }),
    async ({ inspect }) => {
      const seen = (await inspect?.(token, defaultPowerRules, signal())) as Inspection;
      const { symbol, name, decimals } = seen;
      assert.deepEqual([symbol, name, decimals], [null, null, null], 'what was not read is told');
      const found = against(seen);
      assert.equal(found.length, 5, found.join('\n'));
      for (const each of found)
        assert.match(each, / wait: .*does not show this contract's storage/);
    },
  );
});

test('a node that refuses to read storage lets a token wait, with the reason', async () => {
  const token = await deployToken(chain, 'Plain');
  const error = { code: -32601, message: 'the method is not available' };
  await withLie(
    () => ({ body: { jsonrpc: '2.0', id: 1, error } }),
    async ({ inspect }) => {
      const found = against((await inspect?.(token, defaultPowerRules, signal())) as Inspection);
      assert.match(found[0] ?? '', /^contract wait: .*refuses to read storage: the method is not/);
    },
  );
});

test('a node that fails says nothing of a token', async () => {
  const token = await deployToken(chain, 'Plain');
  const failing: readonly (readonly [Lie, string, AbortSignal])[] = [
    [() => ({ status: 500, body: {} }), 'chain_unavailable', signal()],
    [() => ({ body: { result: '0x12' } }), 'chain_unavailable', signal()],
    [() => undefined, 'chain_timeout', AbortSignal.timeout(300)],
  ];
  for (const [lie, code, within] of failing) {
    await withLie(lie, async ({ inspect, open }) => {
      await open(signal());
      await assert.rejects(inspect?.(token, defaultPowerRules, within) as Promise<unknown>, {
        code,
      });
    });
  }
});

test('a look that is out of time while it computes ends, and says nothing of the token', async () => {
  const token = await deployToken(chain, 'LoopsInBalance');
  const adapter = adapterOf();
  await adapter.open(signal());
  const abort = new AbortController();
  const looking = adapter.inspect?.(token, defaultPowerRules, abort.signal);
  // The process does other work meanwhile, or this would never come.
  setTimeout(() => abort.abort(), 50);
  await assert.rejects(looking as Promise<unknown>, { code: 'chain_timeout' });
});
