// Modules that a simulated swap passes through, and those in which no bug is planted, by why. What
// is in none of the tables is new, and somebody has to think of a bug for it (mutations.test.ts).

/** The files in them, not those of folders below. */
export const rooms = [
  'core',
  'server/settle',
  'server/market',
  'server/keeper',
  'server/webhooks',
  'server/edge/idempotency',
  'server/db',
] as const;

/** Folders of the server in which nothing is planted. */
export const otherRooms: Readonly<Record<string, string>> = {
  'server/doctor': 'only reads, and no swap hangs on it',
  'server/people': 'accounts in the browser are not simulated: parties here have wallets and keys',
  'server/messages': 'nobody is told anything, so that no swap hangs on it',
  'server/listing': 'tokens that are to be listed are not simulated',
  'server/restore': 'restored backups are not simulated',
  'server/edge': 'what surrounds every request has tests of its own; idempotency is simulated',
  'server/settings': 'a simulation is given its settings',
  'server/ports': 'what a process is given: a simulation brings its own',
  'server/start': 'a simulation wires its own market',
};

const market = (...names: readonly string[]) => names.map((name) => `server/market/${name}.ts`);
const keeper = (...names: readonly string[]) => names.map((name) => `server/keeper/${name}.ts`);
const webhooks = (...names: readonly string[]) => names.map((name) => `server/webhooks/${name}.ts`);
const db = (...names: readonly string[]) => names.map((name) => `server/db/${name}.ts`);
const core = (...names: readonly string[]) => names.map((name) => `core/${name}.ts`);

export const without: readonly {
  readonly why: string;
  readonly files: readonly string[];
}[] = [
  {
    why: 'types, numbers and words: nothing is decided in it',
    files: [
      ...core('errors', 'families', 'scopes', 'terms'),
      ...db('sealed-rows'),
      ...market('bounds'),
    ],
  },
  {
    why: 'lanes: escrows of a simulated chain have addresses of their own',
    files: ['server/settle/lanes.ts', 'server/settle/ready-lane.ts', ...db('lanes')],
  },
  {
    why: 'signatures of a token: a simulated chain has none, and is funded by its own transactions',
    files: [
      ...['fund-ways', 'pin', 'signed-funding'].map((name) => `server/settle/${name}.ts`),
      ...[...keeper('fund-relay', 'fundings'), ...db('token-abilities')],
    ],
  },
  {
    why: 'batches: a simulated gas key settles one escrow at a time',
    files: [...keeper('batches'), ...db('keeper-rides')],
  },
  {
    why: 'put together what sign, spending and batches decide; the crash matrix has bugs there',
    files: keeper('asked', 'sign-job'),
  },
  {
    why: 'token accounts, and what a claim leaves on Solana: a simulated chain has neither',
    files: [...keeper('token-accounts'), 'server/settle/rent-left.ts'],
  },
  {
    why: 'people in the browser, and what is told to them: parties here have wallets and keys',
    files: [
      ...db('ceremonies', 'feed-tickets', 'logins', 'messages', 'passkeys', 'payouts'),
      ...db('former-channels', 'reminders', 'sessions'),
    ],
  },
  { why: 'who is woken when: a simulation calls every pass by hand', files: db('work') },
  { why: 'makes swaps for tests of the rules', files: core('testing') },
  {
    why: 'amounts are the SDK’s of it, and with the long leg turned about the whole schedule is',
    files: core('trade'),
  },
  {
    why: 'amounts as text, and names and words for people: parties here do what next[] offers',
    files: [
      ...core('amounts', 'confusables', 'drawn', 'look-alikes'),
      ...[...market('look-alikes', 'views'), 'server/settle/warnings.ts'],
    ],
  },
  {
    why: 'rules that differ: a simulated market has the same policies to its end',
    files: [...core('rules'), 'server/settle/rules.ts'],
  },
  {
    why: 'long work in steps, calls by turns, commits shared: what is done is the same without it',
    files: [...core('steps'), ...market('turns', 'grouped-quotes')],
  },
  {
    why: 'the start, which the simulation does in its own way: chains, gas keys and time are its own',
    files: [...core('worlds'), ...keeper('open'), ...db('migrate')],
  },
  {
    why: 'signing in, and wallets, which every party has before it trades',
    files: [
      ...market('addresses', 'keys', 'messages', 'named-hosts', 'nonces', 'proofs', 'wallets'),
      ...db('accounts', 'holdings', 'keys', 'nonces', 'revocations', 'wallets'),
    ],
  },
  {
    why: 'dust and fees above the value: a simulated chain takes every amount',
    files: market('amounts'),
  },
  {
    why: 'the book and the feed, which nobody here reads',
    files: [...market('book', 'feed-events', 'feed-log'), ...db('feed-log', 'listen')],
  },
  { why: 'pruning, which is not simulated', files: [...market('prune'), ...db('ended')] },
  {
    why: 'bounds on what one host or one client may have, which no simulated party comes to',
    files: [...[...webhooks('hosts'), ...db('webhook-hosts')]],
  },
  {
    why: 'where a delivery may go, and how: the simulation has a network of its own',
    files: webhooks('ping', 'public-address', 'register', 'send'),
  },
  {
    why: 'the receiver here checks with it too, so that it would not see a bug of it',
    files: webhooks('sign'),
  },
  { why: 'only who is answered 409 hangs on it', files: ['server/edge/idempotency/underway.ts'] },
  {
    why: 'the listing of tokens, launchpads, the doctor and gaps, which are not simulated',
    files: db('assets', 'candidates', 'doctor', 'gaps', 'launchpads'),
  },
  {
    why: 'what the simulation itself stands on: its wire takes the place of the connection',
    files: db('database'),
  },
  {
    why: 'statements, each asked by one module above in which a bug is planted',
    files: [
      ...db('halts', 'idempotency', 'keeper-attempts', 'keeper-blocking', 'keeper-relays'),
      ...db('keeper-turns', 'listing', 'quotes', 'threads', 'webhooks'),
    ],
  },
];
