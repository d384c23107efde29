// Texts of book.

export const book = {
  'book.title': 'Open orders',
  'book.what':
    'Each line is somebody who wants to swap. Answer with your price; nothing is committed before both sides accept.',
  'book.empty': 'Nobody asks for quotes at the moment.',
  'book.empty.action': 'Ask for quotes yourself',
  'book.none': 'No open order fits these filters.',
  'book.count': '{shown} of {all} open orders',
  'book.newest': '{shown} of the newest {all} open orders; older ones are not shown here',
  'book.chain': 'Chain',
  'book.chain.all': 'All chains',
  'book.word': 'Symbol or contract',
  'book.gives': 'They give',
  'book.wants': 'They want',
  'book.by_quotes': '{asset}, at your price',
  'book.unknown': 'an asset that is not listed',
  'book.price': 'Price they ask',
  'book.price.of': '{of} for 1 {per}',
  'book.no_price': 'open',
  'book.closes': 'Closes in',
  'book.answer': 'Answer',
  'book.go': 'Quote',
  'book.go.about': 'Quote: they give {give} for {want}',
  'book.mine': 'Yours',
} as const;
