// Swaps brought back on this device: phrase, rescue file or market, nodes, then each goes on.

import type { RescueChain, RescueSwap } from '@parley/sdk/rescue/file.ts';
import type { RawSpend } from '@parley/sdk/rescue/raw.ts';
import type { Restored } from '@parley/sdk/rescue/restore.ts';
import { Link } from '@tanstack/react-router';
import { use, useState } from 'react';
import type { Engine } from '../../engine/engine.ts';
import { pageEngine } from '../../engine/page.ts';
import type { Ask, SwapView } from '../../engine/types.ts';
import { useAssets } from '../../market/answers.ts';
import { config } from '../../market/config.ts';
import { useLive } from '../../market/use-live.ts';
import { Do } from '../../parts/act.tsx';
import { Button, Copy, Dialog, Panel } from '../../parts/controls.tsx';
import { Fault, PayoutForm, SaveRescue } from '../../parts/forms.tsx';
import { NodesOfChain } from '../../parts/nodes-of-chain.tsx';
import { Screen } from '../../parts/page.tsx';
import { RestorePhrase } from '../../parts/phrase-panel.tsx';
import { SignedIn } from '../../parts/signed-in.tsx';
import { chainName } from '../../parts/words.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { FromFile, faultOf, saidOf } from './from-file.tsx';
import { amountsOf, contractsOf, type Opened, paidAtOf } from './told.ts';
import './rescue.css';

export function Rescue() {
  return <RescueScreen engine={use(pageEngine())} />;
}

type Props = {
  engine: Engine;
  /** The file with which a saved copy was begun; such a copy keeps nothing and has no market. */
  copyOf?: Opened;
};

export function RescueScreen({ engine, copyOf }: Props) {
  const isCopy = copyOf !== undefined;
  const { vault } = engine;
  const { kind } = useLive(vault.state);
  const [opened, setOpened] = useState<Opened | null>(copyOf ?? null);
  const [restored, setRestored] = useState<readonly Restored[]>([]);
  const [isCut, setCut] = useState(false);
  const hasPhrase = kind === 'checked';
  const hasSwaps = opened !== null && opened.file.swaps.length > 0;
  return (
    <Screen title={text('rescue.title')} narrow>
      <p className="soft">{text('rescue.intro')}</p>
      <Panel
        title={text('rescue.phrase')}
        className={hasPhrase ? 'rescue-step done' : 'rescue-step'}
      >
        {hasPhrase ? <p>{text('rescue.phrase.there')}</p> : <RestorePhrase vault={vault} />}
      </Panel>
      <Panel title={text('rescue.from')} className={hasSwaps ? 'rescue-step done' : 'rescue-step'}>
        {isCopy ? (
          <p>{saidOf(copyOf, engine.now())}</p>
        ) : (
          <FromFile now={engine.now} open={engine.rescue.open} opened={opened} set={setOpened} />
        )}
        {!isCopy && (
          <FromMarket
            engine={engine}
            hasPhrase={kind !== 'none'}
            done={(answer) => {
              setRestored(answer.swaps);
              setCut(!answer.isWhole);
            }}
          />
        )}
      </Panel>
      {hasSwaps && (
        <>
          <Nodes engine={engine} chains={opened.file.chains} />
          <Go engine={engine} opened={opened} hasPhrase={kind !== 'none'} done={setRestored} />
        </>
      )}
      {isCut && <p role="status">{text('rescue.market.cut')}</p>}
      <Results engine={engine} restored={restored} />
      {!isCopy && <SaveCopy engine={engine} />}
    </Screen>
  );
}

/** A node for each chain of the file. */
function Nodes({ engine: { nodes }, chains }: { engine: Engine; chains: readonly RescueChain[] }) {
  const known = useLive(nodes.chains);
  const of = (chain: string) => known.find((each) => each.chain === chain);
  return (
    <Panel title={text('rescue.nodes')} className="rescue-step">
      <p className="soft">{text('rescue.nodes.why')}</p>
      {chains.map(({ chain }) => {
        const facts = of(chain);
        return facts === undefined ? (
          <p key={chain} className="warn-ink">
            {text('rescue.node.unknown', { chain: chainName(chain) })}
          </p>
        ) : (
          <NodesOfChain key={chain} facts={facts} nodes={nodes} />
        );
      })}
    </Panel>
  );
}

type Answer = { readonly swaps: readonly Restored[]; readonly isWhole: boolean };
type FromMarketProps = {
  engine: Engine;
  hasPhrase: boolean;
  done: (answer: Answer) => void;
};

type Question = { readonly swap: RescueSwap; readonly answer: (isMine: boolean) => void };

function FromMarket({ engine, hasPhrase, done }: FromMarketProps) {
  const { data: listed = [] } = useAssets();
  const [question, setQuestion] = useState<Question | null>(null);
  const ask = (swap: RescueSwap) =>
    new Promise<boolean>((resolve) => {
      const answer = (isMine: boolean) => {
        setQuestion(null);
        resolve(isMine);
      };
      setQuestion({ swap, answer });
    });
  const go = async () => done(await engine.rescue.fromMarket(ask));
  const no = () => question?.answer(false);
  return (
    <div>
      <h3>{text('rescue.market')}</h3>
      <p className="soft">{text('rescue.market.why')}</p>
      <SignedIn isPart>
        {() => (
          <Do blocked={hasPhrase ? null : text('rescue.go.phrase')} work={go} failed={fault}>
            {text('rescue.market.go')}
          </Do>
        )}
      </SignedIn>
      <Dialog
        title={text('rescue.market.ask.title')}
        open={question !== null}
        onClose={no}
        no={text('rescue.market.no')}
        yes={
          <Button kind="main" onPress={() => question?.answer(true)}>
            {text('rescue.market.yes')}
          </Button>
        }
      >
        {question !== null && (
          <>
            <p>
              {text('rescue.market.ask', {
                ...amountsOf(question.swap, listed),
                at: localTime(question.swap.swap.agreedAt, engine.now()),
              })}
            </p>
            <PaidAt engine={engine} swap={question.swap} />
            {contractsOf(question.swap, listed).map(({ id, contract }) => (
              <p key={id} className="warn-ink">
                {text('rescue.market.ask.contract', { contract })}
              </p>
            ))}
          </>
        )}
      </Dialog>
    </div>
  );
}

function PaidAt({ engine, swap }: { engine: Engine; swap: RescueSwap }) {
  const paidAt = paidAtOf(swap);
  if (paidAt === null) return null;
  const { chain, address } = paidAt;
  const { title = chain } = engine.nodes.chains.now().find((each) => each.chain === chain) ?? {};
  return (
    <p>
      {text('rescue.market.ask.paid', { chain: title })} <code className="mono">{address}</code>
    </p>
  );
}

const fault = (error: unknown) => <Fault error={error} words={faultOf} />;

type GoProps = {
  engine: Engine;
  opened: Opened;
  hasPhrase: boolean;
  done: (restored: readonly Restored[]) => void;
};

function Go({ engine, opened, hasPhrase, done }: GoProps) {
  const { chains } = engine.nodes;
  const known = useLive(chains);
  const hasNode = (chain: string) =>
    known.some((each) => each.chain === chain && each.nodes.length > 0);
  const isRead = opened.file.swaps.map(
    ({ swap: { legs } }) => hasNode(legs.a.chain) && hasNode(legs.b.chain),
  );
  const hasNodes = isRead.includes(true);
  const { length } = opened.file.swaps;
  const count =
    length === 1 ? text('rescue.file.one') : text('rescue.file.many', { count: length });
  const go = async () => done(await engine.rescue.fromFile(opened.text));
  return (
    <Panel title={text('rescue.go.title')} className="rescue-step">
      <p>{text('rescue.go.what')}</p>
      <Do
        kind="main"
        big
        blocked={hasPhrase ? (hasNodes ? null : text('rescue.go.nodes')) : text('rescue.go.phrase')}
        work={go}
        going={text('rescue.go.searching')}
        failed={fault}
      >
        {text('rescue.go', { count })}
      </Do>
      {hasNodes && isRead.includes(false) && <p className="warn-ink">{text('rescue.go.some')}</p>}
    </Panel>
  );
}

function Results({ engine, restored }: { engine: Engine; restored: readonly Restored[] }) {
  const { all } = engine.swaps;
  const views = useLive(all);
  if (restored.length === 0) return null;
  const ids = new Set(restored.map(({ swapId }) => swapId));
  const nameless = views.filter((each) => ids.has(each.id) && asks(each, 'name_payout'));
  const payTo = async (address: string) => {
    for (const { id } of nameless) await engine.swaps.payTo(id, address);
  };
  return (
    <section aria-labelledby="rescue-results">
      <h2 id="rescue-results">{text('rescue.result.title')}</h2>
      {nameless.length > 0 && (
        <section className="panel" aria-labelledby="rescue-payout">
          <h3 id="rescue-payout">{text('settlement.ask.payout')}</h3>
          <p className="warn-ink">{text('rescue.payout.why', { count: nameless.length })}</p>
          <PayoutForm keep={payTo} />
        </section>
      )}
      <ul className="rescue-results">
        {restored.map((each) => (
          <li key={each.swapId} className="panel">
            <Result
              engine={engine}
              restored={each}
              view={views.find(({ id }) => id === each.swapId)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function asks(view: SwapView | undefined, kind: Ask['kind']): boolean {
  return view?.asks.some((each) => each.kind === kind) ?? false;
}

/** A swap that waits for the person does not go on by itself. */
function outcomeOf({ outcome }: Restored, view: SwapView | undefined): string {
  const isHere = outcome === 'restored' || outcome === 'kept';
  if (isHere && asks(view, 'name_payout')) return text('rescue.result.nameless');
  if (isHere && (['connect_wallet', 'sign'] as const).some((kind) => asks(view, kind))) {
    return text('rescue.result.wallet');
  }
  return text(`rescue.result.${outcome}`);
}

type ResultProps = {
  engine: Engine;
  restored: Restored;
  view: SwapView | undefined;
};

function Result({ engine, restored, view }: ResultProps) {
  const { swapId: id, outcome, secret } = restored;
  const isHere = outcome === 'restored' || outcome === 'kept';
  return (
    <>
      <h3>{text('settlement.id', { id })}</h3>
      <p>{outcomeOf(restored, view)}</p>
      {!isHere && outcome !== 'declined' && (
        <details>
          <summary>{text('settlement.details')}</summary>
          <p lang="en">{restored.why}</p>
        </details>
      )}
      {secret === 'missing' && <p className="warn-ink">{text('rescue.result.missing')}</p>}
      {isHere && (
        <>
          <Link className="button" to="/swaps/$id" params={{ id }}>
            {text('rescue.result.look')}
          </Link>
          <AsText engine={engine} swapId={id} />
        </>
      )}
    </>
  );
}

function AsText({ engine, swapId }: { engine: Engine; swapId: string }) {
  const [spend, setSpend] = useState<RawSpend | null>(null);
  const make = async (verb: 'claim' | 'refund') => {
    setSpend(null);
    setSpend(await engine.swaps.raw(swapId, verb));
  };
  return (
    <details>
      <summary>{text('rescue.texts')}</summary>
      <p className="soft">{text('rescue.texts.why')}</p>
      <div className="actions">
        {(['refund', 'claim'] as const).map((verb) => (
          <Do key={verb} work={() => make(verb)}>
            {text(`rescue.texts.${verb}`)}
          </Do>
        ))}
      </div>
      {spend !== null && <Text spend={spend} now={engine.now()} />}
    </details>
  );
}

function Text({ spend, now }: { spend: RawSpend; now: number }) {
  const value = spend.is === 'signed' ? spend.raw : JSON.stringify(spend.call, null, 1);
  return (
    <div>
      <p>
        {spend.is === 'signed'
          ? text('rescue.texts.signed')
          : text('rescue.texts.call', { chainId: spend.chainId })}
      </p>
      {spend.notBefore !== null && (
        <p>{text('rescue.texts.from', { at: localTime(spend.notBefore, now) })}</p>
      )}
      <pre className="rescue-raw">{value}</pre>
      <Copy value={value} what={text('rescue.texts.what')} />
    </div>
  );
}

function SaveCopy({ engine }: { engine: Engine }) {
  return (
    <Panel title={text('rescue.save.title')}>
      <p>{text('rescue.save.why')}</p>
      <div className="actions">
        <a className="button" href="/app/rescue.html" download={`${config.shortName}-rescue.html`}>
          {text('rescue.save')}
        </a>
        <SaveRescue save={engine.rescue.save} />
      </div>
    </Panel>
  );
}
