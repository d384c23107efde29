// The chosen order with the price of one's quote: stepped by arrow keys, and against recent swaps
// while it is typed.

import type { BaseUnits } from '@parley/core/nominal.ts';
import type { PairPrice } from '@parley/sdk/types.ts';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useCallback, useState } from 'react';
import { priceOf, useLevels } from '../../market/answers.ts';
import { turnedTo } from '../../market/pairs.ts';
import { isFar, type Price, priceIn, quoteAt, standingOf } from '../../market/prices.ts';
import { market } from '../../market/site.ts';
import { Do, Form } from '../../parts/act.tsx';
import { CoinPair } from '../../parts/coin.tsx';
import { AmountInput, Button, Dialog, Field } from '../../parts/controls.tsx';
import { WithdrawQuote } from '../../parts/quoting.tsx';
import { Ready } from '../../parts/ready-list.tsx';
import { Clock, useNow } from '../../parts/shown.tsx';
import { assetName, priceNumber, recordText, typedAmount } from '../../parts/words.ts';
import { formatAmount, formatPercent, secondsOf } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import type { Order } from './orders.ts';
import { bpsText, resultText, sideText, toneOf } from './shown.ts';
import { type Against, againstMedian, fromLevel, stepped } from './ticket.ts';

/** By its arrows; ten times as much with Shift. */
const stepBps = 1;

/** Where the console's keys lead. */
export const priceFieldId = 'desk-price';
export const withdrawId = 'desk-withdraw';

type TicketProps = {
  order: Order;
  recent: PairPrice | undefined;
  accountId: string;
  sent: () => void;
  /** By Escape. */
  leave: () => void;
};

export function Ticket(props: TicketProps) {
  const { order, recent } = props;
  const [isReady, setReady] = useState(false);
  const median = priceOf(recent);
  return (
    <section className="panel ticket" aria-label={text('console.ticket')}>
      <h2>
        <CoinPair one={order.gets.asset} other={order.gives.asset} />
        {text('console.ticket.title', { gets: sideText(order.gets), gives: sideText(order.gives) })}
      </h2>
      <p className="hint">
        {text('console.ticket.assets', {
          gets: assetName(order.gets.asset),
          gives: assetName(order.gives.asset),
        })}
      </p>
      <Facts order={order} median={median} recent={recent} />
      <Own order={order} />
      <Ready give={order.gives.asset} get={order.gets.asset} onKnown={setReady} />
      <QuoteForm {...props} median={median} isReady={isReady} />
    </section>
  );
}

type FactsProps = { order: Order; median: Price | null; recent: PairPrice | undefined };

function Facts({ order, median, recent }: FactsProps) {
  const { pair, asked, rfq } = order;
  const unit = text('console.per', { quote: pair.quote.symbol, base: pair.base.symbol });
  const count = recent?.agreements.length ?? 0;
  return (
    <dl className="facts">
      <Fact name={text('console.ticket.asked')}>
        {asked === null ? text('console.ticket.open') : `${priceNumber(asked, pair)} ${unit}`}
      </Fact>
      <Fact name={text('console.ticket.recent', { count })}>
        {median === null
          ? text('console.ticket.recent.none')
          : `${priceNumber(median, pair)} ${unit}`}
      </Fact>
      <Fact name={text('console.ticket.record')}>{recordText(rfq.creatorStanding)}</Fact>
      <Fact name={text('console.ticket.closes')}>
        <Clock at={secondsOf(rfq.expiresAt)} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The own quote that stands. */
function Own({ order: { thread, quote } }: Pick<TicketProps, 'order'>) {
  const now = useNow();
  if (thread === null) return null;
  const standing = standingOf(thread, 'maker', now * 1_000);
  if (standing.is === 'closed' || standing.is === 'agreed') return null;
  const side = { asset: quote, amount: BigInt(thread.quoteAmount) };
  return (
    <div className="panel own-quote" id={withdrawId}>
      <p>
        <strong>{sideText(side)}</strong> {text(`console.threads.${standing.is}`)}
      </p>
      <div className="actions">
        <Link to="/deals/$id" params={{ id: thread.id }} className="button">
          {text(standing.is === 'waits_for_me' ? 'console.threads.accept' : 'console.threads.open')}
        </Link>
        <WithdrawQuote thread={thread} standing={standing} />
      </div>
    </div>
  );
}

type QuoteFormProps = TicketProps & { median: Price | null; isReady: boolean };

function QuoteForm({ order, median, accountId, isReady, sent, leave }: QuoteFormProps) {
  const { rfq, quote, isGot, thread } = order;
  const baseAmount = BigInt(rfq.baseAmount);
  const [touched, setTouched] = useState<string | null>(null);
  const [far, setFar] = useState<BaseUnits | null>(null);
  const { direction, baseAssetId, quoteAssetId } = rfq;
  const own = useLevels({
    direction,
    baseAssetId,
    quoteAssetId,
    baseAmount: rfq.baseAmount,
    makerId: accountId,
  });
  const [best] = own.data?.levels ?? [];
  const level = best === undefined ? null : priceIn(best);
  const inWords = useCallback(
    (units: BaseUnits) => formatAmount(units, quote.decimals),
    [quote.decimals],
  );
  const first = level === null ? '' : inWords(fromLevel(level, baseAmount, isGot));
  const typed = touched ?? first;
  const { units, fault } = typedAmount(typed, quote);
  const turned = median && turnedTo(baseAssetId, order.pair, median);
  const worth = turned && quoteAt(turned, baseAmount, !isGot);
  const asked = rfq.askAmount === null ? null : BigInt(rfq.askAmount);
  const against =
    turned === null || units === null || units === 0n
      ? null
      : againstMedian(units, baseAmount, turned, isGot);
  const wrong =
    units === 0n
      ? text('price.zero')
      : thread !== null && `${units}` === thread.quoteAmount
        ? text('price.same')
        : null;
  const send = async (amount: BaseUnits) => {
    if (thread === null) await market.quote(rfq.id, amount.toString());
    else await market.propose(thread.id, amount.toString());
    setFar(null);
    setTouched(null);
    sent();
  };
  const tried = async () => {
    if (units === null) return;
    if (isFar(against?.bps ?? null)) setFar(units);
    else await send(units);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') leave();
    const by = { ArrowUp: stepBps, ArrowDown: -stepBps }[event.key];
    const from = units ?? worth ?? asked;
    if (by === undefined || from === null) return;
    event.preventDefault();
    setTouched(inWords(stepped(from, event.shiftKey ? by * 10 : by)));
  };
  const blocked = isReady
    ? units === null || wrong !== null
      ? text('amount.empty')
      : null
    : text('console.ready.first');
  return (
    <Form
      className="ticket-price"
      label={text('console.ticket.price')}
      go={text(thread === null ? 'console.ticket.go' : 'console.ticket.go.again')}
      kind="main"
      blocked={blocked}
      send={tried}
    >
      <Field
        label={text(isGot ? 'console.ticket.get' : 'console.ticket.give', { symbol: quote.symbol })}
        hint={text('console.ticket.hint')}
        error={fault ?? wrong}
      >
        {(tied) => (
          <AmountInput
            {...tied}
            name={priceFieldId}
            value={typed}
            onType={setTouched}
            onKeyDown={onKeyDown}
            onFocus={({ target }) => target.select()}
          />
        )}
      </Field>
      <div className="ticket-fill">
        {worth !== null && (
          <Button kind="quiet" onPress={() => setTouched(inWords(worth))}>
            {text('console.ticket.fill.recent')}
          </Button>
        )}
        {asked !== null && (
          <Button kind="quiet" onPress={() => setTouched(inWords(asked))}>
            {text('console.ticket.fill.asked')}
          </Button>
        )}
        {level !== null && (
          <Button kind="quiet" onPress={() => setTouched(first)}>
            {text('console.ticket.fill.level')}
          </Button>
        )}
      </div>
      <Figures order={order} units={units} against={against} />
      <Dialog
        title={text('console.far')}
        open={far !== null}
        onClose={() => setFar(null)}
        no={text('confirm.no')}
        yes={
          far !== null && (
            <Do kind="danger" work={() => send(far)}>
              {text('console.far.go')}
            </Do>
          )
        }
      >
        <p>
          {text(`console.far.${(against?.bps ?? 0) < 0 ? 'worse' : 'better'}`, {
            percent: formatPercent(against?.bps ?? 0),
          })}
        </p>
      </Dialog>
    </Form>
  );
}

type FiguresProps = { order: Order; units: BaseUnits | null; against: Against | null };

/** They change with each key: heard when the field is left, and not at every digit. */
function Figures({ order: { rfq, pair, quote }, units, against }: FiguresProps) {
  const price =
    units === null || units === 0n
      ? null
      : turnedTo(rfq.baseAssetId, pair, { baseAmount: BigInt(rfq.baseAmount), quoteAmount: units });
  return (
    <dl className="facts figures">
      <Fact name={text('console.per', { quote: pair.quote.symbol, base: pair.base.symbol })}>
        {price === null ? '–' : priceNumber(price, pair)}
      </Fact>
      <Fact name={text('console.ticket.spread')}>
        <span className={toneOf(against?.bps ?? null)}>
          {against?.bps == null ? '–' : bpsText(against.bps)}
        </span>
      </Fact>
      <Fact name={text('console.ticket.profit')}>
        <span className={toneOf(against?.profit ?? null)}>
          {against === null ? '–' : resultText(against.profit, quote)}
        </span>
      </Fact>
    </dl>
  );
}
