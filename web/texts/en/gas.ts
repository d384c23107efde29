// Texts of the coins that network fees are paid in. `{need}`, `{has}` and `{missing}` are amounts
// with their unit, `{until}` and `{from}` local times.

export const gas = {
  'gas.title': 'Coins for network fees',
  'gas.loading': 'Reading what your wallets have…',
  'gas.unread': 'What your wallet has on {chain} could not be read: {why}',
  'gas.none': '{chain}: no other coins are needed. Fees are taken out of the amount.',
  'gas.enough': '{chain}: your wallet has enough. At most {need} are needed, and it has {has}.',
  'gas.address': 'address',
  'gas.missing': 'It has {has}, and may need {need}. Send {missing} to {address}.',
  'gas.amount_short': 'Your wallet on {chain} has too little to give',
  'gas.amount_short.why':
    '{address} has {holds}, and you give {amount}. Have {lacking} more there before {until}. If you do not, the swap ends and you lose nothing.',
  'gas.fund_short': 'Too little on {chain} to lock',
  'gas.fund_short.why':
    'Your wallet has {has}. To lock your side, and to take it back if the swap fails, it may need {need}. Send {missing} to {address} before {until}. If you do not, the swap ends and you lose nothing.',
  'gas.fund_signed': 'The market pays the fee to lock on {chain}',
  'gas.fund_signed.why':
    'Your wallet has {has}, so it only signs a message. The market sends it at no cost to you. If it does not, send {missing} to {address} before {until}, or let the swap end: you lose nothing.',
  'gas.refund_short': 'Enough on {chain} to lock, too little to take it back',
  'gas.refund_short.why':
    'Your wallet has {has}, and both together may take {need}. If the swap fails, have {missing} more at {address} from {from} on. There is no hurry then.',
  'gas.claim_sent': 'The market collects for you on {chain}, at no cost',
  'gas.claim_sent.why':
    'Your wallet has {has}, and collecting may take {need}. So the market sends it and pays the fee. It can pay your address only. It learns the secret just before everybody does.',
  'gas.claim_sent.else':
    'It may refuse. Then this app says at once what is missing, and there is time until {back}. To need nobody, send {missing} to {address} before.',
  'gas.claim_short': 'Too little on {chain} to collect',
  'gas.claim_short.why':
    'Your wallet has {has}, and collecting may take {need}. This market sends no claims there. Send {missing} to {address} before {until}. Nothing of yours is locked before, and nothing is lost.',

  'settlement.relay': 'The market sends it for you, at no cost',
  'settlement.relay.why':
    'Your wallet has too little for the network fee. The transaction can pay {payTo} only. If your nodes do not show it within half a minute, this page says what to do.',
  'settlement.left.refund':
    'If you are away after {refundAt}, the market may send your refund, to {address} alone. Do not count on it: it has its limits.',
  'settlement.left.claim':
    'If you are away once the other side has collected, the market may collect for you, to {payTo} alone. Do not count on it.',
  'settlement.left.refunds':
    'Signed refunds are left with the market: it sends them when they are due, even if you are away.',
  'settlement.warn.gas': 'Your wallet on {gasChain} has too little for the network fee',
  'settlement.warn.gas.cannot': 'Your wallet on {gasChain} cannot lock your side now',
  'settlement.warn.gas.fund':
    'Send it what is missing before {fundBy}. This page then goes on by itself. Nothing is lost if you do not.',
  'settlement.warn.gas.reveal':
    'Send it what is missing before {revealBy}. This page then collects. If you do not, {gives} come back to you.',
  'settlement.warn.gas.collect':
    'Send it what is missing before {otherRefundAt}, or you may lose {gets}. This page then collects by itself.',
  'settlement.warn.gas.refund':
    'Send it what is missing for the refund. There is no hurry: {gives} wait for you.',
  'settlement.warn.gas.refused':
    'The market was asked to collect for you, and refused: {why}. It is asked again every half minute.',
} as const;
