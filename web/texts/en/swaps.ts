// Texts of the list of swaps, and of the receipt of one.

export const swaps = {
  'swaps.title': 'My swaps',
  'swaps.open': 'Open',
  'swaps.ended': 'Ended',
  'swaps.swap': 'Swap',
  'swaps.status': 'Status',
  'swaps.deadline': 'Next deadline',
  'swaps.none.title': 'No swap yet',
  'swaps.none':
    'No swap was agreed in this browser yet. One appears here when both sides have accepted.',
  'swaps.none_open': 'No swap is open.',
  'swaps.give_get': '{gives} for {gets}',
  'swaps.no_deadline': 'none',
  'swaps.restore': 'Bring back swaps of another device',
  'swaps.only_here':
    'Kept in this browser. Another device shows them after you type your rescue phrase there.',

  'receipt.title': 'receipt of swap {id}',
  'receipt.agreed': 'Agreed: {at}',
  'receipt.end.open': 'Ended: not yet',
  'receipt.end.done_received': 'Ended: you collected',
  'receipt.end.done_refunded': 'Ended: you took it back',
  'receipt.end.done_lost': 'Ended: the other side collected, and you did not',
  'receipt.end.done_unpaid': 'Ended: no payment arrived in time',
  'receipt.end.done_nothing': 'Ended: nothing moved',
  'receipt.given': 'Given: {amount} on {chain}',
  'receipt.given.back': 'Given: nothing; {amount} on {chain} were taken back',
  'receipt.received': 'Received: {amount} on {chain}',
  'receipt.received.back': 'Received: nothing; {amount} on {chain} went back to the other side',
  'receipt.token': 'Token',
  'receipt.escrow': 'Escrow',
  'receipt.own': 'Own address',
  'receipt.locked': 'Locked in transaction',
  'receipt.collected': 'Collected in transaction',
  'receipt.back': 'Went back in transaction',
} as const;
