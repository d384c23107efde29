// The twelve words, hidden until asked for. They are in the page's memory only while shown.

import { messageOf } from '@parley/sdk/errors.ts';
import { useState } from 'react';
import type { Vault } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { text } from '../../texts/texts.ts';

type WordsProps = { readonly vault: Vault; readonly written: () => void };

const places = Array.from({ length: 12 }, (_, at) => at + 1);

export function Words({ vault, written }: WordsProps) {
  const [words, setWords] = useState<readonly string[] | null>(null);
  const [wasShown, setShown] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [isCopying, setCopying] = useState(false);
  const show = async () => {
    try {
      setWords(await vault.words());
      setShown(true);
    } catch (error) {
      setFault(messageOf(error));
    }
  };
  return (
    <section className="panel" aria-labelledby="phrase-words">
      <h2 id="phrase-words">{text('phrase.write.title')}</h2>
      <p>{text('phrase.write.how')}</p>
      {fault !== null && <p role="alert">{fault}</p>}
      <ol
        className={words === null ? 'phrase-words hidden' : 'phrase-words'}
        aria-label={text('phrase.words')}
        onCopy={(event) => {
          event.preventDefault();
          setCopying(true);
        }}
      >
        {places.map((at) => (
          <li key={at}>
            <span className="soft">{at}</span>{' '}
            {words === null ? (
              <span className="phrase-mask">{text('phrase.hidden')}</span>
            ) : (
              <strong>{words[at - 1]}</strong>
            )}
          </li>
        ))}
      </ol>
      <div className="actions">
        {words === null ? (
          <Button kind={wasShown ? 'plain' : 'main'} onPress={() => void show()}>
            {text('phrase.show')}
          </Button>
        ) : (
          <Button onPress={() => setWords(null)}>{text('phrase.hide')}</Button>
        )}
        <Button
          kind={wasShown ? 'main' : 'plain'}
          blocked={wasShown ? null : text('phrase.written.first')}
          onPress={written}
        >
          {text('phrase.written')}
        </Button>
      </div>
      <Copying words={words} isOpen={isCopying} close={() => setCopying(false)} />
    </section>
  );
}

type CopyingProps = {
  readonly words: readonly string[] | null;
  readonly isOpen: boolean;
  readonly close: () => void;
};

function Copying({ words, isOpen, close }: CopyingProps) {
  const copy = async () => {
    await navigator.clipboard.writeText((words ?? []).join(' ')).catch(() => undefined);
    close();
  };
  return (
    <Dialog
      title={text('phrase.copy.title')}
      open={isOpen}
      onClose={close}
      no={text('phrase.copy.leave')}
      yes={
        <Button kind="danger" onPress={() => void copy()}>
          {text('phrase.copy.go')}
        </Button>
      }
    >
      <p>{text('phrase.copy.why')}</p>
    </Dialog>
  );
}
