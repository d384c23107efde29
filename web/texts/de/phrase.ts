// Texts of the rescue phrase, and of the page that brings swaps back.

import type { phrase as english } from '../en/phrase.ts';
import type { Words } from '../words.ts';

export const phrase: Words<typeof english> = {
  'phrase.title': 'Rettungsphrase',
  'phrase.what':
    'Zwölf Wörter, aus denen dieser Browser die Schlüssel deiner Swaps macht. Ist dieses Gerät verloren, bringen sie offene Swaps auf einem anderen zurück.',
  'phrase.who':
    'Wer die Wörter hat, kann nehmen, was in deinen Bitcoin-Escrows liegt. Niemand bei diesem Markt kennt sie oder kann sie ersetzen.',
  'phrase.not':
    'Coins in deinen eigenen Wallets gehören nicht dazu: die haben ihre eigenen Phrasen.',
  'phrase.make': 'Phrase erstellen',
  'phrase.make.hint': 'Halte Papier und Stift bereit. Es dauert zwei Minuten.',
  'phrase.have': 'Ich habe eine Phrase',
  'phrase.have.hint': 'Gib die Wörter eines anderen Geräts ein.',
  'phrase.back': 'Zurück',
  'phrase.write.title': 'Schreib die zwölf Wörter auf',
  'phrase.write.how':
    'Auf Papier, in dieser Reihenfolge, wo niemand es sieht. Kein Foto, keine Datei, keine Nachricht.',
  'phrase.show': 'Wörter zeigen',
  'phrase.hide': 'Wörter verbergen',
  'phrase.words': 'Die zwölf Wörter',
  'phrase.hidden': 'verborgen',
  'phrase.written': 'Ich habe sie aufgeschrieben',
  'phrase.written.first': 'Lass dir die Wörter zuerst zeigen und schreib sie auf.',
  'phrase.copy.title': 'Die Wörter kopieren?',
  'phrase.copy.why':
    'Jedes Programm auf diesem Gerät kann lesen, was du kopierst, und manche bewahren es auf oder senden es an andere Geräte. Papier lässt sich nicht aus der Ferne lesen.',
  'phrase.copy.go': 'Trotzdem kopieren',
  'phrase.copy.leave': 'Nicht kopieren',
  'phrase.check.title': 'Gib drei davon wieder ein',
  'phrase.check.how': 'Von deinem Papier. So weißt du, dass stimmt, was dort steht.',
  'phrase.check.word': 'Wort {at}',
  'phrase.check.wrong': 'Das ist nicht Wort {at}. Sieh auf deinem Papier nach.',
  'phrase.check.go': 'Prüfen',
  'phrase.check.again': 'Zurück zu den Wörtern',
  'phrase.checked.title': 'Deine Phrase ist geprüft',
  'phrase.checked.when':
    'Du hast sie eingegeben: {at}. Dieser Browser bewahrt sie auf und zeigt sie nicht mehr.',
  'phrase.checked.lost':
    'Ist das Papier verloren: lass deine offenen Swaps enden, vergiss diese Phrase und erstelle eine neue.',
  'phrase.checked.test': 'Mein Papier prüfen',
  'phrase.checked.right': 'Richtig: das sind Wörter deiner Phrase.',
  'phrase.checked.swaps': 'Zu meinen Swaps',
  'phrase.checked.on': 'Weiter',
  'phrase.forget': 'Auf diesem Gerät vergessen',
  'phrase.forget.title': 'Die Phrase auf diesem Gerät vergessen?',
  'phrase.forget.why':
    'Ohne die Wörter auf deinem Papier lässt sich nichts zurückbringen. Offene Swaps bleiben hier stehen: mach mit ihnen auf einem anderen Gerät weiter.',
  'phrase.forget.go': 'Vergessen',
  'phrase.forget.leave': 'Behalten',
  'phrase.forget.even': 'Ich habe die Rettungsdatei gespeichert und die Wörter auf Papier',
  'phrase.restore.title': 'Gib deine Phrase ein',
  'phrase.restore.label': 'Die zwölf Wörter, mit Leerzeichen dazwischen',
  'phrase.restore.hint': 'Sie bleiben auf diesem Gerät und werden nirgends hin gesendet.',
  'phrase.restore.go': 'Diese Phrase nehmen',
  'phrase.restore.count': {
    one: 'Das ist {count} Wort. Eine Phrase hat 12.',
    other: 'Das sind {count} Wörter. Eine Phrase hat 12.',
  },
  'phrase.restore.word': 'Wort {at}, „{word}“, steht in keiner Phrase. Ist es „{nearest}“?',
  'phrase.restore.checksum':
    'Alle Wörter gibt es, aber sie passen nicht zusammen: eines ist ein anderes, oder zwei sind vertauscht.',
  'phrase.restored': 'Dieser Browser hat jetzt deine Phrase.',

  'rescue.title': 'Swaps zurückbringen',
  'rescue.intro':
    'Für ein verlorenes Gerät, einen geleerten Browser oder einen Markt, den es nicht mehr gibt. Du brauchst deine zwölf Wörter und, ohne Markt, die Rettungsdatei.',
  'rescue.memory':
    'Das ist eine gespeicherte Kopie: sie bewahrt nichts auf. Lass die Seite offen, bis jeder Swap zu Ende ist. Wurde sie geschlossen, beginne neu mit Datei und Phrase.',
  'rescue.copy.title': 'Rettungsseite',
  'rescue.phrase': '1. Deine Phrase',
  'rescue.phrase.there': 'Deine Phrase ist da. Swaps dieser Phrase werden zurückgebracht.',
  'rescue.from': '2. Deine Swaps',
  'rescue.file': 'Aus einer Rettungsdatei',
  'rescue.file.choose': 'Rettungsdatei wählen oder hier ablegen',
  'rescue.file.read': 'Die Datei ist von {at} und hat {count}.',
  'rescue.file.one': '1 offenen Swap',
  'rescue.file.many': '{count} offene Swaps',
  'rescue.file.none': 'Sie hat keinen offenen Swap.',
  'rescue.file.large':
    'Diese Datei hat {size} Bytes, eine Rettungsdatei höchstens {most}: wähle eine andere.',
  'rescue.market': 'Vom Markt',
  'rescue.market.why':
    'Wenn der Markt antwortet und du angemeldet bist: er nennt deine Swaps, und du sagst, welche deine sind.',
  'rescue.market.go': 'Den Markt fragen',
  'rescue.market.ask.title': 'Hast du das vereinbart?',
  'rescue.market.ask':
    'Du gibst {gives} und bekommst {gets}, vereinbart {at}. Das sagt der Markt. Erinnerst du dich nicht, sag nein.',
  'rescue.market.ask.paid':
    'Was du bekommst, geht auf {chain} an die Adresse hier. Sag nur ja, wenn das deine eigene Wallet ist.',
  'rescue.market.ask.contract':
    'Diese App kennt den Token {contract} nicht. Sag nur ja, wenn es der ist, den du vereinbart hast.',
  'rescue.market.yes': 'Ja, zurückbringen',
  'rescue.market.no': 'Nein, weglassen',
  'rescue.market.cut': 'Die Liste war zu lang, um sie ganz zu lesen: es kann ältere Swaps geben.',
  'rescue.nodes': '3. Nodes',
  'rescue.nodes.why':
    'Jede Chain wird über einen Node gelesen, und was abholt oder zurückholt, geht über ihn hinaus. Nenne einen, den du betreibst oder dem du vertraust. Er erfährt, welche Escrows deine sind, und keinen Schlüssel.',
  'rescue.node.label': 'Node von {chain}',
  'rescue.node.hint.bitcoin':
    'Eine Esplora-Adresse, etwa https://…/api. Ein Bitcoin-Core-Node antwortet keiner Webseite: stell einen Proxy davor (docs/rescue.md) und schreib http://user:password@ vor seine Adresse.',
  'rescue.node.hint.other': 'Die Adresse eines Nodes, etwa https://… oder http://127.0.0.1:8545',
  'rescue.node.has': '{chain}: {url}',
  'rescue.node.unknown':
    'Diese App kennt {chain} ohne ihren Markt nicht: öffne die gespeicherte Rettungsseite, die sie aus der Datei kennt.',
  'rescue.node.check': 'Prüfen und nehmen',
  'rescue.node.height': 'Er antwortet. Sein neuester Block ist {height}.',
  'rescue.node.wrong': 'Nicht genommen: {sentence}',
  'rescue.go.title': '4. Zurückbringen',
  'rescue.go.what':
    'Die Swaps werden mit deiner Phrase geprüft. Dann geht jeder von selbst weiter, solange die Seite offen ist: er holt ab, was dir zusteht, und holt zurück, was fällig ist. Nichts Neues wird gesperrt.',
  'rescue.go': '{count} zurückbringen',
  'rescue.go.nodes': 'Nenne zuerst Nodes, von beiden Chains eines Swaps.',
  'rescue.go.some':
    'Eine Chain hat noch keinen Node: ihre Swaps bleiben weg. Nenne später einen und bring sie dann zurück.',
  'rescue.go.phrase': 'Gib zuerst deine Phrase ein.',
  'rescue.go.searching': 'Sucht die Geheimnisse deiner Swaps. Das kann eine Minute dauern.',
  'rescue.result.title': 'Was gefunden wurde',
  'rescue.result.restored': 'Zurückgebracht. Er geht von selbst weiter.',
  'rescue.result.nameless':
    'Zurückgebracht. Er wartet auf eine Bitcoin-Adresse von dir, siehe oben.',
  'rescue.result.wallet':
    'Zurückgebracht. Er geht von selbst weiter, bis auf das, was deine Wallet signieren muss: sieh ihn an.',
  'rescue.payout.why':
    'So viele Swaps warten darauf: {count}. Was du auf Bitcoin abholst oder zurückholst, geht dorthin, und vorher geht nichts weiter. Nimm eine Adresse einer Wallet, die du hast.',
  'rescue.result.kept': 'Er ist schon da.',
  'rescue.result.over': 'Zu Ende: {why}',
  'rescue.result.not_begun': 'Nicht begonnen: {why}',
  'rescue.result.declined': 'Weggelassen, wie du gesagt hast.',
  'rescue.result.refused': 'Nicht zurückgebracht: {why}',
  'rescue.result.missing':
    'Sein Geheimnis wurde nicht gefunden: zurückholen geht, abholen erst, wenn das Geheimnis öffentlich ist.',
  'rescue.result.look': 'Ansehen',
  'rescue.texts': 'Als Text, um ihn anderswo zu senden',
  'rescue.texts.why':
    'Wenn dir hier kein Node antwortet: nimm die Transaktion als Text mit. Sie zahlt nur an die vereinbarte Adresse oder an die, die du genannt hast.',
  'rescue.texts.refund': 'Zurückholen als Text',
  'rescue.texts.claim': 'Abholen als Text',
  'rescue.texts.signed':
    'Eine signierte Bitcoin-Transaktion. Jeder Node oder Explorer mit „Broadcast“ nimmt sie.',
  'rescue.texts.call':
    'Ein Contract-Aufruf auf Chain-ID {chainId}. Jede Wallet kann ihn senden und zahlt die Netzwerkgebühr.',
  'rescue.texts.from': 'Sie wird ab {at} angenommen, nach der Uhr der Chain.',
  'rescue.texts.what': 'Transaktion',
  'rescue.save.title': 'Bevor du sie brauchst',
  'rescue.save.why':
    'Speichere diese Seite als eine Datei und bewahre sie bei der Rettungsdatei auf. Sie geht auch ohne den Markt und erreicht Nodes in deinem eigenen Netz.',
  'rescue.save': 'Rettungsseite speichern',
  'rescue.fault.foreign_file': 'Das ist die Datei eines anderen Programms: wähle die richtige.',
  'rescue.fault.newer_file': 'Eine neuere Version dieser App hat sie geschrieben: nimm diese.',
  'rescue.fault.bad_file': 'Sie ist abgeschnitten oder verändert: nimm eine andere Kopie.',
  'rescue.fault.other_phrase':
    'Eine andere Phrase hat sie geschrieben, oder jemand hat sie verändert: probier deine anderen Phrasen.',
  'rescue.fault.other_network': 'Sie gehört zu einem anderen Netz als diese App.',
  'rescue.fault.too_large': 'Sie ist zu groß für eine Rettungsdatei.',
};
