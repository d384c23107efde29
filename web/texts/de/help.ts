// Texts of help. A part is a heading and its paragraphs, in the order of `parts` of help.tsx.

import type { help as english } from '../en/help.ts';
import type { Words } from '../words.ts';

export const help: Words<typeof english> = {
  'help.title': 'Hilfe',
  'help.contents': 'Auf dieser Seite',
  'help.swap': 'Was ein Swap ist',
  'help.swap.1':
    'Zwei Leute tauschen Coins auf zwei Chains. Jeder sperrt seine Coins in einem Escrow auf seiner Chain. Dazwischen hält sie niemand: weder der Markt noch die andere Seite.',
  'help.swap.2':
    'Beide Escrows öffnet dasselbe Geheimnis. Wer es kennt, kann die Coins eines Escrows abholen. Das Abholen zeigt es der anderen Seite, und sie holt dann aus dem anderen Escrow ab.',
  'help.swap.3':
    'Jedes Escrow hat auch eine Zeit, ab der seine Coins an den zurückgehen, der sie gesperrt hat. Ein Swap endet also auf eine von zwei Arten: beide haben bekommen, oder beide haben ihre Coins wieder.',
  'help.order': 'Wie es abläuft',
  'help.order.1':
    'Du sagst, was du gibst und was du willst, und holst Angebote ein. Maker antworten mit Preisen. Du nimmst einen an oder nennst einen anderen; nichts ist verbindlich, bevor beide Seiten angenommen haben.',
  'help.order.2':
    'Eine Annahme verpflichtet. Die Seite mit dem Geheimnis sperrt ihre Coins zuerst. Die andere sperrt erst, wenn sie dieses Escrow auf seiner Chain geprüft hat; das macht diese App für dich.',
  'help.order.3':
    'Sind beide gesperrt, werden die Coins abgeholt, eine Seite nach der anderen. Die Seite des Swaps nennt immer das eine Nächste, bis wann, und was geschieht, wenn es unterbleibt.',
  'help.time': 'Wie lange es dauert',
  'help.time.1':
    'Meist so lange wie die Bestätigungen beider Chains: Minuten zwischen schnellen Chains, etwa ein bis zwei Stunden mit Bitcoin. Die Startseite nennt die übliche Zeit und den schlimmsten Fall, bevor du fragst.',
  'help.time.2':
    'Schlimmstenfalls hört die andere Seite auf, nachdem du deine Coins gesperrt hast. Dann warten sie bis zur Zeit ihres Escrows, einige Stunden bis etwa zwei Tage, und kommen abzüglich der Gebühren zurück.',
  'help.lose': 'Was verloren gehen kann',
  'help.lose.1':
    'Coins können verloren gehen, wenn das Geheimnis öffentlich ist und du deine nicht vor der Zeit ihres Escrows abholst. Diese App holt ab, solange sie offen ist: auf Bitcoin von selbst, sonst mit deiner Wallet. Sie warnt dich vorher.',
  'help.lose.2':
    'Coins können mit den Schlüsseln verloren gehen. Auf Bitcoin gehört das Escrow einem Schlüssel dieser App. Er kommt aus deinen zwölf Wörtern: ohne das Gerät und ohne die Wörter kann niemand abholen oder zurückholen.',
  'help.lose.3':
    'Gebühren sind weg, auch wenn aus einem Swap nichts wird: eine fürs Sperren, eine fürs Zurückholen. Coins an eine falsche Adresse oder in einem falschen Netz erreicht niemand mehr.',
  'help.lose.4':
    'Der Preis kann sich bewegen, während Coins gesperrt sind. Ein Swap gilt zu dem Preis, den beide angenommen haben, was immer der Markt inzwischen tut.',
  'help.checks': 'Warum du diesem Markt nicht vertrauen musst',
  'help.checks.1':
    'Diese App berechnet jedes Escrow, jede Frist und jede Transaktion selbst, aus dem, was du angenommen hast, und vergleicht. Was abweicht, wird nicht signiert, und die Seite sagt, welche Zahl abweicht.',
  'help.checks.2':
    'Sie liest die Chains über Nodes, die du in den Einstellungen durch eigene ersetzen kannst. Ein Markt, der lügt, kann dir den Dienst verweigern; deine Coins nehmen kann er nicht.',
  'help.away': 'Wenn du diese Seite schließt',
  'help.away.1':
    'Damit ist nicht gleich etwas verloren. Öffne die App, auf irgendeiner Seite, vor der Zeit, die der Swap nennt, und sie macht mit dem weiter, was die Chains zeigen.',
  'help.away.2':
    'Kommst du zu spät zum Sperren, geschieht nichts und nichts ist ausgegeben. Kommst du zu spät zum Abholen, nachdem das Geheimnis gezeigt wurde, können die Coins an die andere Seite zurückgehen.',
  'help.silent': 'Wenn die andere Seite nichts tut',
  'help.silent.1':
    'Bevor du etwas gesperrt hast: warte oder geh. Die Vereinbarung endet von selbst, und deine Coins wurden nie berührt.',
  'help.silent.2':
    'Nachdem du gesperrt hast: warte auf die Zeit deines Escrows. Ab dann gehört die Rückzahlung dir allein; diese App sendet sie, und die Seite zählt bis dahin herunter.',
  'help.bitcoin': 'Wenn du einen falschen Bitcoin-Betrag gezahlt hast',
  'help.bitcoin.1':
    'Zu wenig zählt nicht: das Escrow wartet auf eine Zahlung mit mindestens dem ganzen Betrag. Was du gezahlt hast, kommt ab der Zeit des Escrows zurück, abzüglich der Gebühr.',
  'help.bitcoin.2':
    'Zu viel in einer Zahlung zählt, und der Rest geht mit an die andere Seite. Eine zu späte Zahlung kommt zurück. Eine zweite auch, wenn du nicht abholst: das Geheimnis ließe die andere Seite sie nehmen, und die App fragt dich vorher. Die Seite des Swaps nennt jede Zahlung.',
  'help.bitcoin.3':
    'Börsen ziehen ihre Gebühr oft von dem ab, was du sendest. Sende so viel, dass der ganze Betrag in einer Zahlung ankommt.',
  'help.device': 'Wenn dieses Gerät verloren ist',
  'help.device.1':
    'Gib deine zwölf Wörter auf einem anderen Gerät ein. Mit dem Markt bringen sie jeden offenen Swap zurück. Ohne den Markt brauchst du auch die Rettungsdatei, die die App nach jeder Vereinbarung anbietet.',
  'help.device.2':
    'Die Wörter gelten nur für deine Swaps in dieser App. Coins in deinen Wallets bewahren diese Wallets und ihre eigenen Wörter.',
  'help.market': 'Wenn dieser Markt nicht antwortet oder eine Chain anhält',
  'help.market.1':
    'Ein Halt heißt, dass auf einer Chain nichts Neues vereinbart wird. Vereinbarte Swaps gehen in allem weiter.',
  'help.market.2':
    'Ist der Markt weg, öffnet sich die App trotzdem auf einem Gerät, das sie schon benutzt hat. Sie liest die Chains selbst und kann ohne den Markt abholen und zurückholen.',
  'help.words': 'Wörter',
  'help.words.request': 'Anfrage',
  'help.words.request.is':
    'jemandes Wunsch, einen Coin für einen anderen zu geben; die Preise kommen von Makern',
  'help.words.quote': 'Angebot',
  'help.words.quote.is': 'der Preis eines Makers für eine Anfrage; es verpflichtet niemanden',
  'help.words.escrow': 'Escrow',
  'help.words.escrow.is':
    'wo Coins auf einer Chain gesperrt sind: mit dem Geheimnis werden sie abgeholt, oder nach einer Zeit gehen sie zurück',
  'help.words.claim': 'Abholen',
  'help.words.claim.is':
    'die Coins eines Escrows mit dem Geheimnis nehmen; anderswo „Claim“ genannt',
  'help.words.refund': 'Rückzahlung',
  'help.words.refund.is': 'die eigenen Coins ab der Zeit des Escrows zurückholen',
  'help.words.confirmations': 'Bestätigungen',
  'help.words.confirmations.is':
    'Blöcke auf einer Zahlung; ein Swap geht weiter, wenn es genug sind, dass sie bleibt',
  'help.build': 'Wie man diese App mit ihrem Quelltext vergleicht',
  'help.build.1':
    'Der Hash am Fuß jeder Seite nennt diesen Build. Wer den Quelltext hat, baut ihn mit „npm ci && npm run web“ und muss denselben Hash erhalten.',
  'help.build.2':
    'Die Dateien, wie dein Browser sie bekam, stehen in /app/build.json. Ihr Hash ist der Hash der Liste, die sha256sum von ihnen ausgibt, nach Pfad sortiert.',
};
