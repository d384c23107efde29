// Acts of more than one press: a question before what is not easily undone, one thing
// that is typed, a file that is saved.

import { messageOf } from '@parley/sdk/errors.ts';
import { isoTime } from '@parley/sdk/people.ts';
import type { PhraseCheck } from '@parley/sdk/rescue/phrase.ts';
import { type ReactNode, useState } from 'react';
import { config, now } from '../market/config.ts';
import { text } from '../texts/texts.ts';
import { Do, Form, useAct } from './act.tsx';
import { AddressField, isAddress } from './address-field.tsx';
import { plainAddress } from './bitcoin-address.ts';
import { Button, Dialog, TextArea } from './controls.tsx';
import { Failed } from './page.tsx';

type ConfirmProps = {
  children: ReactNode;
  /** Heard instead of the words on the button, such as many times in a list. */
  label?: string;
  title: string;
  /** The consequence. */
  what: ReactNode;
  kind?: 'danger' | 'plain';
  onConfirm: () => Promise<void>;
};

export function Confirm({
  children,
  label,
  title,
  what,
  kind = 'danger',
  onConfirm,
}: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const { busy, error, run, forget } = useAct();
  const close = () => {
    setOpen(false);
    forget();
  };
  const confirm = () =>
    run(async () => {
      await onConfirm();
      setOpen(false);
    });
  return (
    <>
      <Button {...(label === undefined ? {} : { label })} onPress={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog
        title={title}
        open={open}
        onClose={close}
        no={text('confirm.no')}
        yes={
          <Button kind={kind === 'danger' ? 'danger' : 'main'} busy={busy} onPress={confirm}>
            {children}
          </Button>
        }
      >
        {what}
        <Failed error={error} />
      </Dialog>
    </>
  );
}

type Props = {
  /** Throws what the engine says of the address, as a sentence. */
  keep: (address: string) => Promise<void>;
  /** Where there is an address already, which may stay. */
  leave?: () => void;
};

export function PayoutForm({ keep, leave }: Props) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const send = async () => {
    const wrong = await keep(plainAddress(typed)).then(() => null, messageOf);
    setFault(wrong);
    if (wrong === null) setTyped('');
  };
  return (
    <Form
      className=""
      go={text('settlement.payto.save')}
      kind="main"
      blocked={isAddress(typed) ? null : text('address.first')}
      send={send}
      more={
        leave !== undefined && <Button onPress={leave}>{text('settlement.payto.leave')}</Button>
      }
    >
      <AddressField
        label={text('settlement.payto.label')}
        hint={text('settlement.payto.hint')}
        error={fault}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setFault(null);
        }}
      />
    </Form>
  );
}

type PhraseFormProps = {
  /** Keeps a right phrase. */
  restore: (typed: string) => Promise<PhraseCheck>;
  done: () => void;
};

export function PhraseForm({ restore, done }: PhraseFormProps) {
  const [typed, setTyped] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const send = async () => {
    const check = await restore(typed);
    if (!check.ok) return setFault(faultOf(check));
    setTyped('');
    done();
  };
  return (
    <Form className="" go={text('phrase.restore.go')} kind="main" send={send}>
      <TextArea
        label={text('phrase.restore.label')}
        hint={text('phrase.restore.hint')}
        error={fault}
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setFault(null);
        }}
        mono
        autoComplete="off"
        maxLength={1_000}
      />
    </Form>
  );
}

function faultOf(check: Exclude<PhraseCheck, { ok: true }>): string {
  switch (check.fault) {
    case 'count':
      return text('phrase.restore.count', { count: check.count });
    case 'words':
      return check.wrong
        .map(({ at, word, nearest }) => text('phrase.restore.word', { at, word, nearest }))
        .join(' ');
    case 'checksum':
      return text('phrase.restore.checksum');
  }
}

type FaultProps = {
  /** null: draws nothing. */
  error: unknown;
  words?: (error: unknown) => string;
};

export function Fault({ error, words = messageOf }: FaultProps) {
  if (error === null) return null;
  return (
    <p role="alert" className="bad-ink">
      {words(error)}
    </p>
  );
}

/** With the market's name and the day (UTC): `parley-rescue-2026-11-27.json`. */
export function fileName(what: string, ending: string): string {
  return `${config.shortName}-${what}-${isoTime(now()).slice(0, 10)}.${ending}`;
}

/** The number of its bytes. */
export function saveFile(name: string, type: string, content: string): number {
  const blob = new Blob([content], { type });
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return blob.size;
}

type SaveRescueProps = {
  save: () => Promise<string>;
  /** In the place of its words. */
  children?: ReactNode;
};

export function SaveRescue({ save, children }: SaveRescueProps) {
  const go = async () =>
    void saveFile(fileName('rescue', 'json'), 'application/json', await save());
  return (
    <Do work={go} kind={children === undefined ? 'plain' : 'quiet'}>
      {children ?? text('settlement.rescue.save')}
    </Do>
  );
}
