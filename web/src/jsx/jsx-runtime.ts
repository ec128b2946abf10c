/** React's JSX runtime, with hidden characters made visible in every text. See props.ts. */
import type { ElementType, Key, ReactElement } from 'react';
import * as react from 'react/jsx-runtime';
import { type Props, visibleProps } from './props';

export type { JSX } from 'react';
export { Fragment } from 'react/jsx-runtime';

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return react.jsx(type, visibleProps(props), key);
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return react.jsxs(type, visibleProps(props), key);
}
