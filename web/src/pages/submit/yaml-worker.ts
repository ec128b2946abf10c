/** Checks YAML off the main thread: a mebibyte of it would block typing noticeably. */
import { checkYAML } from './yaml';

addEventListener('message', (event: MessageEvent<string>) => {
  postMessage(checkYAML(event.data));
});
