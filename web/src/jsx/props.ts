/**
 * What every JSX element of the page goes through (`jsxImportSource` in tsconfig.json). Alerts, tools and models write much
 * of what the page shows; a title that one component forgets to escape is enough to mislead a reader. Here no component can
 * forget it: text children and the attributes that people read or hear are made visible before React gets them. Values of
 * fields stay as they are, because people edit and send them.
 */
import { visible } from '@/text/visible';

/** Attributes that are shown as a tooltip or read out. */
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

/** The same value where nothing of it changes: elements keep what React knows about them. */
function visibleChildren(children: unknown): unknown {
  if (typeof children === 'string') return visible(children);
  if (!Array.isArray(children)) return children;
  const shown = children.map(visibleChildren);
  return shown.some((child, n) => child !== children[n]) ? shown : children;
}
