/** Answers that were asked for before the program of the page was there. The first request for the same address gets one. */

const answers = new Map<string, { at: number; answer: Promise<Response> }>();

/** Older ones are of no use: the page has been somewhere else meanwhile. */
const longest = 30_000;

/** Asks ahead. The caller gets the answer to read, and the page gets its own copy. */
export async function askAhead(path: string): Promise<Response> {
  const address = new URL(path, location.origin).href;
  const answer = fetch(address);
  // Nobody may ask for it; that it failed is then nobody's concern.
  answer.catch(() => {});
  const kept = answer.then((response) => response.clone());
  kept.catch(() => {});
  answers.set(address, { at: Date.now(), answer: kept });
  return answer;
}

/** What `fetch` is for requests of the page. */
export function fetchOrTake(request: Request): Promise<Response> {
  const kept = request.method === 'GET' ? answers.get(request.url) : undefined;
  answers.delete(request.url);
  return kept !== undefined && Date.now() - kept.at < longest ? kept.answer : fetch(request);
}
