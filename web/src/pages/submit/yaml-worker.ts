/** Checks YAML beside the page: a mebibyte of it takes longer than a person waits for a key to appear. */
import { checkYAML } from './yaml';

addEventListener('message', (event: MessageEvent<string>) => {
  postMessage(checkYAML(event.data));
});
