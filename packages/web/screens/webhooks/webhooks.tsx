// Webhooks of the account: the registered ones, a test, the log, and how a program checks them.

import { type WebhookTopic, webhookTopics } from '@parley/core/events.ts';
import { longestUrl, pageLimit } from '@parley/core/limits.ts';
import type { ListedWebhook } from '@parley/sdk/types.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { market, shortName } from '../../market/site.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Do, Form } from '../../parts/act.tsx';
import {
  Button,
  CheckBoxes,
  Copy,
  Notice,
  Panel,
  Select,
  TextField,
} from '../../parts/controls.tsx';
import { Fold } from '../../parts/fold.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { Answer, Empty } from '../../parts/page.tsx';
import { When } from '../../parts/shown.tsx';
import { text } from '../../texts/texts.ts';
import { Deliveries } from './deliveries.tsx';
import { languages, snippets } from './snippet.ts';
import './webhooks.css';

const mostWebhooks = 20;

export function Webhooks() {
  return (
    <AccountScreen title={text('webhooks.title')}>
      {({ id }) => <Parts accountId={id} />}
    </AccountScreen>
  );
}

function Parts({ accountId }: { accountId: string }) {
  const client = useQueryClient();
  const [made, setMade] = useState<Registered | null>(null);
  const hooks = useQuery({
    queryKey: ['webhooks', accountId],
    // At most 20: one page.
    queryFn: async ({ signal }) =>
      (await market.webhooks({ limit: pageLimit.most }, { signal })).webhooks,
  });
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['webhooks', accountId] });
  };
  return (
    <>
      <p>{text('webhooks.what')}</p>
      {made !== null && <Secret made={made} onDone={() => setMade(null)} />}
      <Answer of={hooks}>
        {(all) => (
          <>
            {all.length === 0 && <Empty>{text('webhooks.none')}</Empty>}
            {all.map((each) => (
              <Hook key={each.id} hook={each} onChanged={changed} />
            ))}
            <RegisterWebhook
              isFull={all.length >= mostWebhooks}
              onRegistered={async (registered) => {
                setMade(registered);
                await changed();
              }}
            />
          </>
        )}
      </Answer>
      <Verify />
    </>
  );
}

/** It leaves this component nowhere, and is gone with it. */
function Secret({ made, onDone }: { made: Registered; onDone: () => void }) {
  return (
    <Notice
      kind="warn"
      title={text('webhooks.secret.title')}
      action={
        <>
          <Copy value={made.secret} what={text('webhooks.secret.name')} />
          <Button onPress={onDone}>{text('webhooks.secret.done')}</Button>
        </>
      }
    >
      <p>{text('webhooks.secret.what', { url: made.url })}</p>
      <code className="secret">{made.secret}</code>
    </Notice>
  );
}

type HookProps = { hook: ListedWebhook; onChanged: () => Promise<void> };

function Hook({ hook, onChanged }: HookProps) {
  const { id, url, events, enabled } = hook;
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [said, setSaid] = useState<'ok' | 'failed' | null>(null);
  const ping = async () => {
    setSaid(null);
    const { ok } = await market.pingWebhook(id);
    setSaid(ok ? 'ok' : 'failed');
    await Promise.all([onChanged(), client.invalidateQueries({ queryKey: ['deliveries', id] })]);
  };
  const remove = async () => {
    await market.removeWebhook(id);
    await onChanged();
  };
  return (
    <section className="panel">
      <h2 className="webhook-url">{url}</h2>
      <p>
        {text('webhooks.events')}:{' '}
        {events.length === 0 ? text('webhooks.events.all') : events.join(', ')}
      </p>
      <p className="hint">
        {text('webhooks.last')}: <Last hook={hook} />
      </p>
      {!enabled && (
        <Notice kind="warn" title={text('webhooks.off')}>
          {text('webhooks.off.why')}
        </Notice>
      )}
      <div className="actions">
        <Do label={text('webhooks.test.label', { url })} work={ping}>
          {text('webhooks.test')}
        </Do>
        <Button
          label={text(isOpen ? 'deliveries.close.label' : 'webhooks.log.label', { url })}
          onPress={() => setOpen(!isOpen)}
        >
          {text(isOpen ? 'deliveries.close' : 'webhooks.log')}
        </Button>
        <Confirm
          label={text('webhooks.remove.label', { url })}
          title={text('webhooks.remove.title', { url })}
          what={<p>{text('webhooks.remove.what')}</p>}
          onConfirm={remove}
        >
          {text('webhooks.remove')}
        </Confirm>
      </div>
      {said !== null && (
        <Notice kind={said === 'ok' ? 'good' : 'warn'}>{text(`webhooks.test.${said}`)}</Notice>
      )}
      {isOpen && <Deliveries webhookId={id} />}
    </section>
  );
}

function Last({ hook: { lastStatus, lastError, lastDeliveryAt } }: Pick<HookProps, 'hook'>) {
  if (lastStatus === null || lastDeliveryAt === null) return <>{text('webhooks.last.never')}</>;
  return (
    <>
      {lastStatus === 0
        ? text('webhooks.last.none', { error: lastError ?? '' })
        : text('webhooks.last.status', { status: lastStatus })}
      , <When at={lastDeliveryAt} />
    </>
  );
}

function Verify() {
  return (
    <Panel title={text('webhooks.verify.title')}>
      <p>
        {text('webhooks.verify.what')} <a href="/docs/webhooks">{text('webhooks.verify.how')}</a>
      </p>
      {languages.map((language) => (
        <Snippet key={language} name={text(`webhooks.verify.${language}`)}>
          {snippets[language](shortName)}
        </Snippet>
      ))}
    </Panel>
  );
}

function Snippet({ name, children }: { name: string; children: string }) {
  return (
    <Fold title={name}>
      <pre className="code">{children}</pre>
      <Copy value={children} what={`${text('webhooks.verify.code')}, ${name}`} />
    </Fold>
  );
}

type Registered = { readonly url: string; readonly secret: string };

type RegisterWebhookProps = {
  isFull: boolean;
  onRegistered: (made: Registered) => Promise<void>;
};

function RegisterWebhook({ isFull, onRegistered }: RegisterWebhookProps) {
  const [url, setUrl] = useState('');
  const [which, setWhich] = useState<'all' | 'some'>('all');
  const [chosen, setChosen] = useState<ReadonlySet<WebhookTopic>>(new Set());
  const send = async () => {
    const events = which === 'all' ? [] : webhookTopics.filter((each) => chosen.has(each));
    const { webhook, secret } = await market.registerWebhook({ url: url.trim(), events });
    setUrl('');
    await onRegistered({ url: webhook.url, secret });
  };
  const none = which === 'some' && chosen.size === 0 ? text('webhooks.new.some.none') : null;
  return (
    <Panel title={text('webhooks.new')}>
      <Form
        go={text('webhooks.new.go')}
        kind="main"
        blocked={isFull ? text('webhooks.new.full') : none}
        send={send}
      >
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
      </Form>
    </Panel>
  );
}
