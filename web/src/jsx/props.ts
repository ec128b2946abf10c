/**
 * Processes the props of every JSX element of the dashboard (`jsxImportSource` in tsconfig.json). Alerts, tools and
 * models write much of what the dashboard shows, and one title that a component forgets to escape is enough to mislead
 * a reader. So hidden characters in text children, and in attributes that people read or hear, are made visible here
 * before React gets them. Field values are not changed, because people edit and send them.
 */
import { visible } from '@/text/visible';

/** Attributes that appear as a tooltip or are read out. */
const read = ['title', 'alt', 'label', 'placeholder', 'aria-label', 'aria-description', 'aria-valuetext'];

export type Props = Record<string, unknown>;

export function visibleProps(props: Props): Props {
  let shown = props;
  const set = (name: string, value: unknown) => {
    if (value === props[name]) return;
    if (shown === props) shown = { ...props };
    shown[name] = value;
  };
  for (const name of read) if (typeof props[name] === 'string') set(name, visible(props[name]));
  set('children', visibleChildren(props.children));
  return shown;
}

/** Returns the same value if nothing changes, so that React's bookkeeping on it is kept. */
function visibleChildren(children: unknown): unknown {
  if (typeof children === 'string') return visible(children);
  if (!Array.isArray(children)) return children;
  const shown = children.map(visibleChildren);
  return shown.some((child, n) => child !== children[n]) ? shown : children;
}
