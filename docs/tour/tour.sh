# A bitcoin trade for dollars by curl, from both sides. The README shows it in pieces; a test runs it whole.
# Needs a running market (`npm start`), in PARLEY_HOME where that is set. Alice sells 0.01 BTC, Bob pays 650 dollars.
set -euo pipefail
export PATH="$PWD/node_modules/.bin:$PATH"
HOME_OF_MARKET=${PARLEY_HOME:-.parley}
READY=${READY:-$HOME_OF_MARKET/ready.json}
W=${WALLETS:-$HOME_OF_MARKET/tour}

# --- 1: small helpers
field() { node -pe "JSON.parse(require('fs').readFileSync(0,'utf8'))$1"; }
URL=$(field .url < "$READY"); DEV=$(field .dev < "$READY")
node_of() { field ".chains.find(c=>c.chain==='$1').rpcUrl" < "$READY"; }
wallet() { npm run -s wallet -- "$@"; }
api() { # who METHOD path [body]
  curl -sS --fail-with-body -X "$2" "$URL/v1/$3" -H "Authorization: Bearer $(wallet show "$W/$1.json" apiKey)" \
    ${4:+-H "content-type: application/json" -d "$4"}; }
dev() { curl -sS --fail-with-body "$DEV/$1" -H "content-type: application/json" -d "$2"; }

# --- 2: two accounts; each signs in with an EVM wallet and vouches for its others
wallet join "$W/alice.json" "$URL"
wallet join "$W/bob.json" "$URL"
api alice GET me

# --- 3: coins from the faucet
dev faucet "{\"chain\":\"bitcoin-regtest\",\"address\":\"$(wallet show "$W/alice.json" btcAddress)\",\"amount\":\"2000000\"}"
for who in alice bob; do dev faucet "{\"chain\":\"evm-dev\",\"address\":\"$(wallet show "$W/$who.json" evmAddress)\"}"; done
dev faucet "{\"chain\":\"evm-dev\",\"address\":\"$(wallet show "$W/bob.json" evmAddress)\",\"asset\":\"USDD\",\"amount\":\"1000000000\"}"

# --- 4: Alice asks for quotes, Bob answers
BTC=$(api alice GET 'assets?symbol=BTC' | field .assets[0].id); USD=$(api alice GET 'assets?chain=evm-dev&symbol=USDD' | field .assets[0].id)
RFQ=$(api alice POST rfqs "{\"direction\":\"sell_base\",\"baseAssetId\":\"$BTC\",\"baseAmount\":\"1000000\",\"quoteAssetId\":\"$USD\",\"ttlSeconds\":3600}" | field .rfq.id)
THREAD=$(api bob POST "rfqs/$RFQ/quotes" '{"quoteAmount":"650000000"}' | field .thread.id)

# --- 5: both accept; Alice funds the long leg (Bitcoin), so she is the initiator and brings the hashlock
SECRET=$(wallet secret)
api alice POST "threads/$THREAD/accept" "{\"quoteAmount\":\"650000000\",\"hashlock\":\"$(echo "$SECRET" | field .hashlock)\"}" > /dev/null
SWAP=$(api bob POST "threads/$THREAD/accept" '{"quoteAmount":"650000000"}' | field .swap.id)

# --- 6: where Bitcoin is refunded to and paid to: compressed public keys
api alice POST "swaps/$SWAP/address" "{\"chain\":\"bitcoin-regtest\",\"address\":\"$(wallet show "$W/alice.json" btcPubkey)\"}" > /dev/null
api bob POST "swaps/$SWAP/address" "{\"chain\":\"bitcoin-regtest\",\"address\":\"$(wallet show "$W/bob.json" btcPubkey)\"}" > /dev/null
api alice GET "swaps/$SWAP" | field .next

# --- 7: build, sign, broadcast: the same three steps for every transaction
send() { # who leg verb chain [body] [n-th transaction] [secret]
  api "$1" POST "swaps/$SWAP/legs/$2/$3" "${5:-}" | wallet sign "$W/$1.json" "$(node_of "$4")" "${6:-0}" "${7:-}" > "$W/signed.json"
  api "$1" POST tx/broadcast "@$W/signed.json"; echo; }
reaches() { until [ "$(api alice GET "swaps/$SWAP" | field .status)" = "$1" ]; do sleep 0.5; done; echo "status: $1"; }

# --- 8: Alice funds leg b, Bob approves and funds leg a
send alice b fund bitcoin-regtest
reaches initiator_funded
send bob a fund evm-dev '' 0
send bob a fund evm-dev '' 0
reaches counterparty_funded

# --- 9: Alice claims, which shows the secret; Bob claims with it
send alice a claim evm-dev "{\"secret\":\"$(echo "$SECRET" | field .secret)\"}"
reaches initiator_claimed
SEEN=$(api bob GET "swaps/$SWAP" | field .secret)
send bob b claim bitcoin-regtest "{\"secret\":\"$SEEN\"}" 0 "$SEEN"
reaches counterparty_claimed
