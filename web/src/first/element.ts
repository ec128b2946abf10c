import { visible } from '@/text/visible';

type Child = Element | string | false;

/** Creates an element. Texts come from models and tools, so they are always added as text, never as markup. */
export function element(tag: string, attributes: Record<string, string>, ...children: Child[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(
    ...children.filter((child) => child !== false).map((child) => (typeof child === 'string' ? visible(child) : child)),
  );
  return made;
}
