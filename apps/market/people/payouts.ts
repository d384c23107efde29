// Where the account is paid. Only a wallet session changes it, with a signature of the wallet that
// is to be paid. A stolen session, or a stolen e-mail, is held off by a second signature: that of
// the wallet that was paid before, or of the one that is signed in where the family had none.
// Without it the change waits, is told on every channel, and can be stopped from any session.

import { ParleyError } from '@parley/core/errors.ts';
import { type Family, factsOf, families } from '@parley/core/families.ts';
import { lockTrader } from '../db/accounts.ts';
import type { Tx } from '../db/database.ts';
import { type PayableWallet, walletsToPay } from '../db/legs.ts';
import { insertOutbox } from '../db/outbox.ts';
import { insertPayout, payoutsOf, stopPayouts } from '../db/payouts.ts';
import { endWait, findLogin, upsertWebProof, waits, walletsOf } from '../db/wallets.ts';
import { canonicalAddress } from '../market/proofs.ts';
import { mustHaveRoomForProofs, taken } from '../market/wallets.ts';
import type { Deps, Making } from '../ports/deps.ts';
import { uuidv7 } from '../ports/ids.ts';
import { holdFrom, mustHaveRoomToWait } from './hold.ts';
import { isCounted } from './logins.ts';
import { type Browser, isWalletSession, lockLive, type Session } from './sessions.ts';
import type { Site } from './site.ts';
import { beginText, checkText, type TextToSign } from './wallet.ts';

export type WalletName = { readonly family: Family; readonly address: string };

/** Throws `not_a_wallet_session`. */
async function mustBeWalletSession(tx: Tx, session: Session, nowMs: number): Promise<void> {
  if (await isWalletSession(tx, session, nowMs)) return;
  throw new ParleyError(
    'not_a_wallet_session',
    'only a session that was signed in to with a wallet of the account changes where it is paid, ' +
      'and not with one that still waits; sign in with that wallet',
  );
}

/** Also one removed since: else whoever removes it would need no signature of it. */
async function paidLast(tx: Tx, accountId: string, family: Family, now: Date) {
  const chosen = await payoutsOf(tx, accountId, now);
  const last = chosen.find((each) => isCounted(each, family, now));
  if (last !== undefined) return last.address;
  const wallets = await walletsToPay(tx, [accountId], [family], now);
  return wallets.find((each) => each.paid)?.address ?? null;
}

/** The wallet whose signature makes a change count at once; null = the wallet's own is enough. */
async function voucherFor(
  tx: Tx,
  session: Session,
  { family, address }: WalletName,
  nowMs: number,
): Promise<WalletName | null> {
  const paid = await paidLast(tx, session.accountId, family, new Date(nowMs));
  if (paid !== null) return paid === address ? null : { family, address: paid };
  const { walletFamily, walletAddress } = session;
  if (walletFamily === null || walletAddress === null) return null;
  if (walletFamily === family && walletAddress === address) return null;
  return { family: walletFamily, address: walletAddress };
}

type ChoiceAsked = WalletName & {
  readonly session: Session;
  readonly browser: Browser;
  readonly site: Site;
  readonly paid: boolean;
  /** The chain of an EVM wallet: the one that it is on; null = the first that is served. */
  readonly chainId: number | null;
};

/** The statement that the wallet itself signs, and the one for the wallet that vouches for it. */
function statementsOf({ family, address, paid }: Omit<Choice, 'vouchedBy' | 'pubkey'>) {
  return {
    own: payoutStatement(family, 'this wallet', paid),
    voucher: payoutStatement(family, address, paid),
  };
}

/** Without the product's name: with a Taproot address it fills a Ledger's 255 bytes of TRON. */
export function payoutStatement(family: Family, wallet: string, paid: boolean): string {
  const { title: named } = factsOf[family];
  return paid ? `Pay ${named} to ${wallet} from now on.` : `Let swaps on ${named} pay ${wallet}.`;
}

/** The texts to sign; no voucher where the wallet's own signature is enough. */
export async function beginChoice(
  tx: Tx,
  deps: Making,
  asked: ChoiceAsked,
): Promise<{ own: TextToSign; voucher: (WalletName & { message: string }) | null }> {
  const { session, browser, site, family, paid, chainId } = asked;
  const now = deps.now();
  await mustBeWalletSession(tx, session, now);
  const address = canonicalAddress(family, asked.address, deps.settings.network);
  const statements = statementsOf({ family, address, paid });
  const begun = { way: 'payout', purpose: 'add', session, browser, site } as const;
  const statement = statements.own;
  const own = await beginText(tx, deps, { ...begun, family, address, statement, chainId });
  const by = await voucherFor(tx, session, { family, address }, now);
  if (by === null) return { own, voucher: null };
  const text = { ...begun, ...by, statement: statements.voucher, chainId: null };
  const { message } = await beginText(tx, deps, text);
  return { own, voucher: { ...by, message } };
}

type ChoiceSigned = Omit<ChoiceAsked, 'chainId'> & {
  readonly message: string;
  readonly signature: string;
  readonly voucher: { readonly message: string; readonly signature: string } | null;
};

/** Checks the signatures and uses their texts up. Before the transaction. */
export async function checkChoice(
  deps: Deps,
  signed: ChoiceSigned,
  signal: AbortSignal,
): Promise<Choice> {
  const { session, browser, site, family, paid, message, signature } = signed;
  await mustBeWalletSession(deps.db, session, deps.now());
  const address = canonicalAddress(family, signed.address, deps.settings.network);
  const statements = statementsOf({ family, address, paid });
  const place = { way: 'payout', site, browser } as const;
  const check = async (wallet: WalletName, given: typeof signed.voucher, statement: string) => {
    const text = { ...place, ...wallet, ...(given ?? { message, signature }) };
    const found = await checkText(deps, text, signal);
    if (found.ceremony.sessionId !== session.id || found.statement !== statement) {
      const sentence = `the text that was signed is another one than "${statement}"`;
      throw new ParleyError('bad_message', sentence);
    }
    return found;
  };
  const { pubkey } = await check({ family, address }, null, statements.own);
  if (signed.voucher === null) return { family, address, paid, pubkey, vouchedBy: null };
  const by = await voucherFor(deps.db, session, { family, address }, deps.now());
  if (by === null) return { family, address, paid, pubkey, vouchedBy: null };
  await check(by, signed.voucher, statements.voucher);
  return { family, address, paid, pubkey, vouchedBy: by };
}

type Choice = WalletName & {
  /** Bitcoin: the key, where the signature showed it. */
  readonly pubkey: string | null;
  /** The wallet that signed for it beside itself; null = nobody. */
  readonly vouchedBy: WalletName | null;
  /** It is to be paid by itself from then on; false = it may be named as paid. */
  readonly paid: boolean;
};

/** When it counts. Throws `not_a_wallet_session`, `wallet_taken`, `too_many_wallets`. */
export async function choose(
  tx: Tx,
  deps: Making,
  session: Session,
  choice: Choice,
): Promise<{ fromAt: Date }> {
  const { accountId } = session;
  const { family, address } = choice;
  const now = deps.now();
  const at = new Date(now);
  await lockLive(tx, deps, session);
  await lockTrader(tx, accountId);
  await mustBeWalletSession(tx, session, now);
  const voucher = await voucherFor(tx, session, choice, now);
  const isVouched = voucher === null || isSame(voucher, choice.vouchedBy);
  const waitsUntil = isVouched ? null : holdFrom(deps);
  const before = await standing(tx, accountId, choice, at);
  const fromAt = waitsUntil ?? at;
  const stopped = choice.paid ? await stopPayouts(tx, { accountId, family, address: null, at }) : 0;
  // A wallet that receives already waits only to be paid: it needs no wait of its own.
  if (waitsUntil === null || !before.receives) {
    await hold(tx, deps, accountId, choice, waitsUntil);
  }
  if (waitsUntil !== null && (choice.paid || !before.receives)) {
    await mustHaveRoomToWait(tx, accountId, choice, now);
  }
  // A choice that changes nothing is neither stored nor emitted: it would drown the real changes.
  if (stopped === 0 && (choice.paid ? before.paid : before.receives)) return { fromAt: at };
  if (choice.paid) {
    const id = uuidv7(now, deps.randomBytes);
    const told = isVouched;
    await insertPayout(tx, { id, accountId, family, address, askedAt: at, fromAt, told });
  }
  const topic = isVouched ? 'payout.changed' : 'payout.changing';
  const payload = { family, address, fromAt: fromAt.toISOString(), paid: choice.paid };
  await insertOutbox(tx, [{ topic, accountId, payload, at }]);
  return { fromAt };
}

async function standing(tx: Tx, accountId: string, { family, address }: WalletName, at: Date) {
  const wallets = await walletsToPay(tx, [accountId], [family], at);
  const own = wallets.filter((each) => each.address === address);
  return { paid: own.some((each) => each.paid), receives: own.some((each) => each.receives) };
}

function isSame(one: WalletName, other: WalletName | null): boolean {
  return one.family === other?.family && one.address === other.address;
}

/** The account has it from now on, and it waits no longer than told. */
async function hold(
  tx: Tx,
  deps: Pick<Deps, 'now'>,
  accountId: string,
  { family, address, pubkey }: Choice,
  waitsUntil: Date | null,
): Promise<void> {
  const owner = await findLogin(tx, family, address);
  if (owner !== null && owner !== accountId) throw taken(address);
  if (owner === accountId) {
    if (waitsUntil === null) await endWait(tx, { accountId, family, address });
    return;
  }
  const at = new Date(deps.now());
  const proof = { accountId, family, address, pubkey, at, waitsUntil };
  if ((await upsertWebProof(tx, proof)) === null) throw taken(address);
  await mustHaveRoomForProofs(tx, accountId);
}

type Receiving = {
  readonly family: Family;
  readonly paid: string | null;
  /** May be named as where a swap pays. */
  readonly receives: readonly string[];
  readonly waiting: readonly { address: string; fromAt: Date; paid: boolean }[];
  readonly leaving: readonly { address: string; at: Date }[];
};

export async function receivingOf(tx: Tx, accountId: string, nowMs: number): Promise<Receiving[]> {
  const now = new Date(nowMs);
  const wallets = await walletsToPay(tx, [accountId], families, now);
  const all = await walletsOf(tx, accountId);
  const held = all.filter((each) => waits(each, nowMs));
  const choices = (await payoutsOf(tx, accountId, now)).filter((each) => each.fromAt > now);
  return families.map((family) => {
    const own = wallets.filter((each) => each.family === family);
    const chosen = choices.filter((each) => each.family === family);
    const waiting = [
      ...chosen.map(({ address, fromAt }) => ({ address, fromAt, paid: true })),
      ...held
        .filter((each) => each.family === family && !chosen.some(isOf(each.address)))
        .map((each) => ({ address: each.address, fromAt: each.waitsUntil as Date, paid: false })),
    ];
    const leaving = all.flatMap((each) =>
      each.family === family && each.leavesAt !== null
        ? [{ address: each.address, at: each.leavesAt }]
        : [],
    );
    return { family, paid: paidOf(own), receives: receivesOf(own), waiting, leaving };
  });
}

const isOf = (address: string) => (each: { readonly address: string }) => each.address === address;

function paidOf(own: readonly PayableWallet[]): string | null {
  return own.find((each) => each.paid)?.address ?? null;
}

function receivesOf(own: readonly PayableWallet[]): string[] {
  return [...new Set(own.filter((each) => each.receives).map((each) => each.address))];
}
