/** Responses requested before the app has loaded. The first request for the same address takes the response. */

const answers = new Map<string, { at: number; answer: Promise<Response> }>();

/** Older responses are discarded: the user has been on other pages since. */
const longest = 30_000;

/** Requests a path in advance. The caller gets the response, and the app gets a copy. */
export async function askAhead(path: string): Promise<Response> {
  const address = new URL(path, location.origin).href;
  const answer = fetch(address);
  // If no request takes the response, its failure does not matter.
  answer.catch(() => {});
  const kept = answer.then((response) => response.clone());
  kept.catch(() => {});
  answers.set(address, { at: Date.now(), answer: kept });
  return answer;
}

/** The `fetch` of the app: takes a response requested in advance if there is a recent one. */
export function fetchOrReuse(request: Request): Promise<Response> {
  const kept = request.method === 'GET' ? answers.get(request.url) : undefined;
  answers.delete(request.url);
  return kept !== undefined && Date.now() - kept.at < longest ? kept.answer : fetch(request);
}
