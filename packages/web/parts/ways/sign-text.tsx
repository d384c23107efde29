// A wallet that signs texts: a program of this browser, or one elsewhere, by hand. The market writes
// the text (docs/signing.md), and it is good once.

import type { Family } from '@parley/core/families.ts';
import { asTyped } from '@parley/core/typed.ts';
import type { MessageSigner } from '@parley/sdk/keys.ts';
import { type FormEvent, type ReactNode, useState, useSyncExternalStore } from 'react';
import { text } from '../../texts/texts.ts';
import type { FoundWallet } from '../../wallets/types.ts';
import { type Act, Cancelled, Form, useAct } from '../act.tsx';
import { Button, Copy, Select, TextArea, TextField } from '../controls.tsx';
import { Icon } from '../icons.tsx';
import { Failed } from '../page.tsx';
import { chosenProgram, connected, connectWallet, pageWallets } from '../page-wallets.ts';
import { programsToGet } from './programs.ts';
import './ways.css';

let found: readonly FoundWallet[] = [];

function subscribe(changed: () => void): () => void {
  return pageWallets.listen((now) => {
    found = now;
    changed();
  });
}

/** In the order of these families. */
export function usePrograms(families: readonly Family[]): readonly FoundWallet[] {
  const all = useSyncExternalStore(subscribe, () => found);
  return families.flatMap((family) => all.filter((each) => each.family === family));
}

/** Asks the person for an account, unless this page knows the wanted one. Throws WalletError. */
async function signerOf({ id, name, family }: FoundWallet, wanted?: string) {
  const known = wanted === undefined ? null : connected(family, wanted);
  const { signer } = known ?? (await connectWallet(id, wanted));
  if (wanted === undefined || signer.address.toLowerCase() === wanted.toLowerCase()) return signer;
  const facts = { name, own: signer.address, address: wanted };
  throw new Error(text('ways.wallet.other', facts));
}

type SignTextProps = {
  families: readonly Family[];
  /** This account alone, of the only family. */
  wanted?: string | undefined;
  /** Signs, and tells the market; done in one go, since texts are good once. */
  use: (signer: MessageSigner) => Promise<void>;
};

export function SignText(props: SignTextProps) {
  return (
    <>
      <SignByProgram {...props} />
      <SignByHand {...props} />
    </>
  );
}

export function SignByProgram({ families, wanted, use }: SignTextProps) {
  const act = useAct();
  const [asking, setAsking] = useState<string | null>(null);
  const by = (program: FoundWallet) =>
    act.run(async () => {
      setAsking(program.name);
      try {
        await use(await signerOf(program, wanted));
      } finally {
        setAsking(null);
      }
    });
  // After a failure any other program may be the right one.
  const isFirst = wanted !== undefined && act.error === null;
  return (
    <div className="way">
      <Programs families={families} act={act} onChoose={by} isChosenOnly={isFirst} />
      {asking !== null && <p role="status">{text('ways.wallet.look', { name: asking })}</p>}
      <Failed error={act.error} />
    </div>
  );
}

type ProgramsProps = {
  families: readonly Family[];
  act: Act;
  onChoose: (program: FoundWallet) => void;
  /** The one that was used last, where it is there. */
  isChosenOnly?: boolean;
};

/** A button for each wallet program of these families. */
export function Programs(props: ProgramsProps): ReactNode {
  const { families, act, onChoose, isChosenOnly = false } = props;
  const all = usePrograms(families);
  const chosen = isChosenOnly ? all.find(({ id, family }) => id === chosenProgram(family)) : null;
  const programs = chosen ? [chosen] : all;
  if (programs.length === 0) return <NoProgram families={families} />;
  return (
    <ul className="programs">
      {programs.map((each) => (
        <li key={each.id}>
          <Button
            kind={isChosenOnly && programs.length === 1 ? 'main' : 'plain'}
            busy={act.busy}
            onPress={() => onChoose(each)}
          >
            {each.icon !== null && <img src={each.icon} alt="" width={28} height={28} />}
            {text(isChosenOnly ? 'ways.wallet.sign' : 'ways.wallet.use', { name: each.name })}
            {!isChosenOnly && <span className="hint">{text(`family.${each.family}`)}</span>}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The way to a wallet of each family, in the place of a list without an entry. */
function NoProgram({ families }: Pick<ProgramsProps, 'families'>) {
  return (
    <div className="no-program">
      <p>{text('ways.wallet.none')}</p>
      <ul>
        {families.map((family) => (
          <li key={family}>
            <a className="button" href={programsToGet[family].url} target="_blank" rel="noreferrer">
              {programsToGet[family].name} <Icon name="out" />
              <span className="hint">{text(`family.${family}`)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The text that waits for its signature. */
type Asked = {
  readonly family: Family;
  readonly message: string;
  readonly give: (signature: string) => void;
  readonly leave: () => void;
};

export function SignByHand({ families, wanted, use }: SignTextProps) {
  const [family, setFamily] = useState<Family>(families[0] ?? 'evm');
  const [address, setAddress] = useState(wanted ?? '');
  const [asked, setAsked] = useState<Asked | null>(null);
  const signMessage = (message: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const leave = () => reject(new Cancelled());
    setAsked({ family, message, give: resolve, leave });
    return promise.finally(() => setAsked(null));
  };
  const show = () => use({ family, address: asTyped(address).trim(), signMessage });
  return (
    <details className="by-hand">
      <summary>{text('ways.hand.title')}</summary>
      <p className="hint">{text('ways.hand.why')}</p>
      <Form go={text('ways.hand.show')} send={show} failed={(error) => <UsedUp error={error} />}>
        {wanted === undefined && (
          <Select
            label={text('ways.hand.family')}
            value={family}
            onChange={setFamily}
            options={families.map((value) => ({ value, label: text(`family.${value}`) }))}
          />
        )}
        <TextField
          label={text('ways.hand.address')}
          mono
          required
          readOnly={wanted !== undefined}
          autoComplete="off"
          value={address}
          onChange={setAddress}
        />
      </Form>
      {asked !== null && <SignedElsewhere key={asked.message} asked={asked} />}
    </details>
  );
}

/** The text is good once: another one is asked for. */
function UsedUp({ error }: { error: unknown }) {
  return (
    <>
      <Failed error={error} />
      <p className="hint">{text('ways.hand.used_up')}</p>
    </>
  );
}

function SignedElsewhere({ asked: { family, message, give, leave } }: { asked: Asked }) {
  const [signature, setSignature] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    give(signature);
  };
  return (
    <form className="way" onSubmit={send}>
      <TextArea
        label={text('ways.hand.text')}
        mono
        readOnly
        rows={12}
        value={message}
        onChange={() => {}}
      />
      <Copy value={message} what={text('ways.hand.copied')} />
      <TextField
        label={text('ways.hand.signature')}
        hint={text(`ways.hand.how.${family}`)}
        mono
        required
        autoComplete="off"
        value={signature}
        onChange={setSignature}
      />
      <div className="actions">
        <Button type="submit" kind="main">
          {text('ways.go_on')}
        </Button>
        <Button kind="quiet" onPress={leave}>
          {text('ways.back')}
        </Button>
      </div>
    </form>
  );
}
