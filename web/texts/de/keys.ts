// Texts of API keys.

import type { keys as english } from '../en/keys.ts';
import type { Words } from '../words.ts';

export const keys: Words<typeof english> = {
  'keys.title': 'API-Schlüssel',
  'keys.what':
    'Für Programme, die für dieses Konto handeln. Ein Schlüssel allein bewegt keinen Coin: es signieren deine Wallets. Wer ihn hat, handelt und liest in deinem Namen, bis du ihn widerrufst.',
  'keys.docs': 'Dokumentation der API',
  'keys.none': 'Kein Schlüssel ist gültig.',
  'keys.name': 'Name',
  'keys.unnamed': 'ohne Namen',
  'keys.prefix': 'Beginnt mit',
  'keys.scopes': 'Darf',
  'keys.used': 'Zuletzt benutzt (UTC)',
  'keys.used.on': '{day} aus {place}',
  'keys.used.never': 'nie',
  'keys.expires': 'Endet',
  'keys.revoke': 'Widerrufen',
  'keys.revoke.label': 'Widerrufen: der Schlüssel {prefix}…',
  'keys.revoke.title': '{prefix}… widerrufen?',
  'keys.revoke.what':
    'Programme, die ihn benutzen, werden ab jetzt abgelehnt. Es ist nicht umkehrbar.',
  'keys.revoked': 'Der Schlüssel ist widerrufen. Er gilt nirgends mehr.',
  'keys.mint.title': 'Ein neuer Schlüssel',
  'keys.mint.ten': 'Das Konto hat bis zu zehn Schlüssel: {count} sind gültig.',
  'keys.mint.full': 'Zehn Schlüssel sind gültig, mehr geht nicht. Widerrufe zuerst einen.',
  'keys.mint.one':
    'Ein Konto nur aus Wallets und Passkeys hat einen Schlüssel: ein neuer ersetzt ihn. Mit E-Mail oder Anbieter als Login hat es zehn.',
  'keys.mint.name': 'Wie du ihn nennst',
  'keys.mint.days': 'Tage, bis er endet',
  'keys.mint.days.hint': '1 bis 90',
  'keys.mint.days.bad': 'Tage sind eine ganze Zahl von 1 bis 90.',
  'keys.mint.scopes': 'Was er darf',
  'keys.scope.read': 'read: alles, was keine Anfrage und kein Angebot ist',
  'keys.scope.taker': 'taker: Anfragen stellen und abbrechen, Token listen lassen',
  'keys.scope.maker': 'maker: anbieten und den Maker-Feed lesen',
  'keys.mint.scopes.none': 'Wähle, was der Schlüssel darf.',
  'keys.mint.go': 'Schlüssel erstellen',
  'keys.mint.replace.title': '{prefix}… ersetzen?',
  'keys.mint.replace.what':
    'Programme, die den jetzigen Schlüssel benutzen, werden ab dann abgelehnt.',
  'keys.minted.title': 'Der Schlüssel, einmal gezeigt',
  'keys.minted.what':
    'Kopiere ihn jetzt: hier bleibt nur sein SHA-256. Leg ihn dorthin, wo dein Programm Geheimnisse liest, und auf keine Seite und in keinen Chat.',
  'keys.minted.key': 'Schlüssel',
  'keys.minted.done': 'Ich habe ihn',
};
