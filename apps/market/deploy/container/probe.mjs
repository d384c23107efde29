// probe.mjs PATH: asks the market of this container, for images without a shell. Ends with 0 where
// the answer is 200, else with 1 and what was said.

const [, , path = '/readyz'] = process.argv;
/** Less than the probe's own limit, so that it can say why. */
const limitMs = 2_500;

try {
  const url = `http://127.0.0.1:${process.env.PORT || 8080}${path}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(limitMs) });
  console.log(`${answer.status} ${(await answer.text()).slice(0, 1_000)}`);
  process.exitCode = answer.status === 200 ? 0 : 1;
} catch (error) {
  console.log(error.cause?.message ?? error.message);
  process.exitCode = 1;
}
