/** The variant of jsx-runtime.ts for development and tests. */
import type { ElementType, Key, ReactElement } from 'react';
import * as react from 'react/jsx-dev-runtime';
import { type Props, visibleProps } from './props';

export type { JSX } from 'react';
export { Fragment } from 'react/jsx-dev-runtime';

export function jsxDEV(
  type: ElementType,
  props: Props,
  key: Key | undefined,
  isStatic: boolean,
  source?: react.JSXSource,
  self?: unknown,
): ReactElement {
  return react.jsxDEV(type, visibleProps(props), key, isStatic, source, self);
}
