// Parts that more than one screen uses:
//
// | part | for |
// |---|---|
// | button.tsx | Button: `main` once a screen, `danger` for what cannot be undone |
// | field.tsx | Field, TextField, TextArea: label, hint and error, heard by screen readers |
// | amount-field.tsx | AmountField: whole coins as typed, and as base units or null |
// | select.tsx, check-boxes.tsx | Select: one of few; CheckBoxes: several |
// | amount.tsx | Amount: in the unit; all digits on hover and when copied |
// | clock.tsx, now.ts | Clock: a time and how long until it; Countdown; useNow: one timer |
// | table.tsx | Table: rows by key; cards where the page is narrow |
// | dialog.tsx | Dialog: a question that wants an answer; Esc closes it |
// | notice.tsx | Notice: `info`, `good`, `warn`, `bad`, with what to do |
// | copy.tsx, qr.tsx | Copy: a value to the clipboard; Qr: the same for a camera |
// | share.tsx | Share: a link of this site, by both |
// | screen.tsx | Screen: heading, title of the tab; every screen begins with it |
// | fault.tsx | Fault: the sentence of an error |
// | answer.tsx | Answer: a query while it loads, fails, is old; Empty, Loading, Failed |
// | announce.ts | announce: says a sentence in the live region of the layout |
// | typed-form.tsx | TypedForm: one thing that is typed and taken, or why not |
// | payout-form.tsx | PayoutForm: a Bitcoin address of the person |
// | gas.ts, gas-notes.tsx | GasNotes: coins for network fees, what a wallet lacks and who sends |
// | withdraw-quote.tsx | WithdrawQuote: a maker takes its quote back, where it may |
// | price-form.tsx | PriceForm: the price that a maker or a taker names |
// | book-table.tsx | BookTable: the live book, a row an order |
// | nodes-of-chain.tsx | NodesOfChain: the form of the nodes of one chain |
// | search.ts | hasWords: rows by the words that one types |
// | names.ts | chainName, assetName, shortAddress |
//
// Controls are the browser's own: names, order of focus and keys come with them.
// react-aria-components is for what browsers have not (the combo box). CSS: style/parts.css.

import { type ReactNode, useId } from 'react';

type ButtonProps = {
  readonly children: ReactNode;
  readonly onPress?: (() => void) | undefined;
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  /** Something runs: the button stays where it is, and does nothing. */
  readonly busy?: boolean;
  /** Why it can do nothing yet: a sentence, shown below. */
  readonly blocked?: string | null;
  /** Where the words on it are not enough, such as many times in a list. */
  readonly label?: string;
};

export function Button(props: ButtonProps) {
  const { children, onPress, kind = 'plain', type = 'button', busy = false, label } = props;
  const blocked = props.blocked ?? null;
  const id = useId();
  const idle = !busy && blocked === null;
  // Not `disabled`: it would lose the focus, and nobody would hear why.
  const button = (
    <button
      type={type}
      className={`button ${kind}`}
      aria-disabled={!idle}
      aria-busy={busy}
      aria-label={label}
      aria-describedby={blocked === null ? undefined : id}
      onClick={(event) => {
        if (idle) onPress?.();
        else event.preventDefault();
      }}
    >
      {children}
    </button>
  );
  if (blocked === null) return button;
  return (
    <span className="blocked">
      {button}
      <span id={id} className="hint">
        {blocked}
      </span>
    </span>
  );
}
