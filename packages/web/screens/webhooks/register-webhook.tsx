// A new webhook: where, and which events.

import { type WebhookTopic, webhookTopics } from '@parley/core/events.ts';
import { longestUrl } from '@parley/core/limits.ts';
import { type FormEvent, useState } from 'react';
import { market } from '../../market/client.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { CheckBoxes } from '../../parts/check-boxes.tsx';
import { TextField } from '../../parts/field.tsx';
import { Select } from '../../parts/select.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { text } from '../../texts/texts.ts';

export type Registered = { readonly url: string; readonly secret: string };

type RegisterWebhookProps = {
  readonly isFull: boolean;
  readonly onRegistered: (made: Registered) => Promise<void>;
};

export function RegisterWebhook({ isFull, onRegistered }: RegisterWebhookProps) {
  const freshly = useFreshly();
  const [url, setUrl] = useState('');
  const [which, setWhich] = useState<'all' | 'some'>('all');
  const [chosen, setChosen] = useState<ReadonlySet<WebhookTopic>>(new Set());
  const { busy, error, run } = useAct();
  const isNone = which === 'some' && chosen.size === 0;
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (isFull || isNone) return;
    run(async () => {
      const events = which === 'all' ? [] : webhookTopics.filter((each) => chosen.has(each));
      const { webhook, secret } = await freshly(() =>
        market.registerWebhook({ url: url.trim(), events }),
      );
      setUrl('');
      await onRegistered({ url: webhook.url, secret });
    });
  };
  const none = isNone ? text('webhooks.new.some.none') : null;
  return (
    <section className="panel">
      <h2>{text('webhooks.new')}</h2>
      <form className="way" onSubmit={send}>
        <TextField
          label={text('webhooks.new.url')}
          hint={text('webhooks.new.url.hint')}
          type="url"
          mono
          required
          maxLength={longestUrl}
          placeholder="https://"
          value={url}
          onChange={setUrl}
        />
        <Select
          label={text('webhooks.new.which')}
          value={which}
          onChange={setWhich}
          options={[
            { value: 'all', label: text('webhooks.new.all') },
            { value: 'some', label: text('webhooks.new.some') },
          ]}
        />
        {which === 'some' && (
          <CheckBoxes
            legend={text('webhooks.events')}
            all={webhookTopics}
            chosen={chosen}
            onChange={setChosen}
          >
            {(event) => (
              <>
                <code>{event}</code> <span className="hint">{text(`event.${event}`)}</span>
              </>
            )}
          </CheckBoxes>
        )}
        <Button
          type="submit"
          kind="main"
          busy={busy}
          blocked={isFull ? text('webhooks.new.full') : none}
        >
          {text('webhooks.new.go')}
        </Button>
        {error !== null && <Failed error={error} />}
      </form>
    </section>
  );
}
