// The rescue phrase on this device. It lies unencrypted in the origin's storage (decision
// 0030 in docs/decisions/README.md). Words leave it by `words` alone.

import type { Network } from '@parley/core/families.ts';
import type { UnixSeconds } from '@parley/core/nominal.ts';
import { asTyped } from '@parley/core/typed.ts';
import { type PhraseKeys, phraseKeys } from '@parley/sdk/rescue/derive.ts';
import { checkPhrase, newPhrase, phraseWords } from '@parley/sdk/rescue/phrase.ts';
import { held, type Live } from '../live.ts';
import type { Kept } from './keeping.ts';
import { EngineError, type Keeper, type VaultState } from './types.ts';

export type OpenVault = Awaited<ReturnType<typeof openVault>>;

type VaultParts = {
  readonly kept: Kept;
  readonly network: Network;
  readonly now: () => UnixSeconds;
  /** Tells the other tabs. */
  readonly onChange: () => void;
  /** Swaps that are not over, agreed from `since` on, and whether a rescue file was saved of all. */
  readonly atRisk: (
    since?: UnixSeconds,
  ) => Promise<{ readonly open: number; readonly isSaved: boolean }>;
};

type Entry = {
  readonly phrase: string;
  readonly madeAt: UnixSeconds;
  readonly checkedAt: UnixSeconds | null;
  /** Its key on Bitcoin is a login of an account: without the phrase that login is lost. */
  readonly signsIn?: true;
  /** Absent: words, the one way there was before. */
  readonly keptIn?: Keeper;
};

const key = 'phrase';
const placesAsked = 3;
/** The market says when a swap was agreed, and its clock may be another. */
const clocksSeconds = 600;

/** Words leave it by `words` alone; they are never in an error. */
export async function openVault(parts: VaultParts) {
  const { kept, network, now } = parts;
  const state = held<VaultState>({ kind: 'none' });
  let places: readonly number[] = [];
  let derived: { readonly phrase: string; readonly keys: Promise<PhraseKeys> } | null = null;

  const entry = async (): Promise<Entry | null> => {
    const text = await kept.get(key);
    return text === null ? null : (JSON.parse(text) as Entry);
  };
  const read = async () => state.set(stateOf(await entry()));
  const change = async (next: (entry: Entry | null) => Entry | null) => {
    await kept.change(key, (text) => {
      const entry = next(text === null ? null : (JSON.parse(text) as Entry));
      return entry === null ? null : JSON.stringify(entry);
    });
    await read();
    parts.onChange();
  };
  const phrase = async (): Promise<string> => {
    const found = await entry();
    if (found !== null) return found.phrase;
    throw new EngineError('no_phrase', 'there is no rescue phrase on this device yet');
  };
  const confirm = async (words: string, keptIn: Keeper) => {
    const checkedAt = Math.floor(now());
    await change((before) => {
      // Another tab may have forgotten it, and made another one.
      if (before?.phrase !== words) throw another();
      return { ...before, keptIn, checkedAt: before.checkedAt ?? checkedAt };
    });
  };
  await read();
  return {
    state: state as Live<VaultState>,
    /** Another tab may have changed it. */
    read,
    /** Throws EngineError `no_phrase`. */
    keys: async () => {
      const words = await phrase();
      if (derived?.phrase !== words) {
        derived = { phrase: words, keys: phraseKeys(words, network) };
      }
      return derived.keys;
    },
    /**
     * Where there is none: another tab may be as fast. `isUnasked`: no person has asked for one.
     * Throws `swaps_open` then where swaps run that need a former one, whose place it would take.
     */
    make: async ({ isUnasked } = { isUnasked: false }) => {
      const { open } = isUnasked ? await parts.atRisk() : { open: 0 };
      await change((before) => {
        if (before === null && open > 0) {
          const why = `${open} of your swaps need the rescue phrase that was removed`;
          throw new EngineError('swaps_open', `${why}: restore it first`);
        }
        return before ?? { phrase: newPhrase(), madeAt: Math.floor(now()), checkedAt: null };
      });
    },
    /** Before its key becomes a login: no other phrase takes its place until it is kept. */
    signsIn: () => change((before) => before && { ...before, signsIn: true }),
    /** For the screen that shows them, and no longer than it. Throws `no_phrase`. */
    words: async (): Promise<readonly string[]> => (await phrase()).split(' '),
    /** Three places to be typed back, counted from 1, in ascending order; drawn anew each time. */
    asked: () => {
      places = drawnPlaces();
      return places;
    },
    /** By place. `wrong`: the places that do not fit; an empty list makes the vault `checked`. */
    check: async (typed: Readonly<Record<number, string>>) => {
      const words = (await phrase()).split(' ');
      const wanted = places.length > 0 ? places : words.map((_, at) => at + 1);
      const all = [...new Set([...wanted, ...Object.keys(typed).map(Number)])];
      const wrong = all.filter((at) => plain(typed[at] ?? '') !== words[at - 1]);
      if (wrong.length > 0) return { wrong };
      await confirm(words.join(' '), 'words');
      return { wrong };
    },
    /** All words, as they came back from where they were saved. False: these are others. */
    readBack: async (came: string, keptIn: Exclude<Keeper, 'words'>) => {
      const words = await phrase();
      const checked = checkPhrase(came);
      if (!checked.ok || checked.phrase !== words) return false;
      await confirm(words, keptIn);
      return true;
    },
    /**
     * A phrase of another device: `checked` at once. It takes the place of an unchecked one, by
     * which nothing was accepted and nobody signs in. Throws `has_phrase` where there is another
     * one.
     */
    restore: async (typed: string, keptIn: Keeper = 'words') => {
      const checked = checkPhrase(typed);
      if (!checked.ok) return checked;
      const at = Math.floor(now());
      // Older swaps are of a phrase before it, and may wait for the one that comes.
      const { madeAt: since = at } = (await entry()) ?? {};
      const { open } = await parts.atRisk(since - clocksSeconds);
      await change((before) => {
        const isOther = before !== null && before.phrase !== checked.phrase;
        if (isOther && (before.checkedAt !== null || open > 0)) throw another();
        if (isOther && before.signsIn) throw unkeptLogin();
        const madeAt = isOther ? at : (before?.madeAt ?? at);
        return { phrase: checked.phrase, madeAt, checkedAt: at, keptIn };
      });
      return checked;
    },
    /**
     * Throws `swaps_open` while a swap runs, unless a rescue file with it was saved and
     * `evenWithOpenSwaps`. Throws `has_phrase` of one that signs in and was never kept.
     */
    forget: async ({ evenWithOpenSwaps } = { evenWithOpenSwaps: false }) => {
      const { open, isSaved } = await parts.atRisk();
      if (open > 0 && !(evenWithOpenSwaps && isSaved)) {
        const first = `${open} of your swaps are not over, and need this phrase`;
        const then = isSaved
          ? 'say that you want it all the same: phrase and rescue file bring them back'
          : 'save the rescue file first, and keep the words';
        throw new EngineError('swaps_open', `${first}: ${then}`);
      }
      await change((before) => {
        if (before?.signsIn && before.checkedAt === null) throw unkeptLogin();
        return null;
      });
      derived = null;
    },
  };
}

function stateOf(entry: Entry | null): VaultState {
  if (entry === null) return { kind: 'none' };
  const { madeAt, checkedAt, keptIn = 'words' } = entry;
  return checkedAt === null
    ? { kind: 'unchecked', madeAt }
    : { kind: 'checked', madeAt, checkedAt, keptIn };
}

function another(): EngineError {
  return new EngineError('has_phrase', 'this device has another rescue phrase already');
}

function unkeptLogin(): EngineError {
  const sentence = "a key of this browser's phrase signs in to your account: keep the phrase first";
  return new EngineError('has_phrase', sentence);
}

const plain = (word: string) => asTyped(word).normalize('NFKD').trim().toLowerCase();

/** Each place as likely: a byte of 252 is cut by 12 without a rest. */
function drawnPlaces(): number[] {
  const found = new Set<number>();
  while (found.size < placesAsked) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < 252) found.add((byte % phraseWords) + 1);
  }
  return [...found].sort((one, other) => one - other);
}
