import { visible } from '@/text/visible';

type Child = Element | string | false;

/** Makes an element. Texts are of models and tools: they are texts here, whatever they hold. */
export function element(tag: string, attributes: Record<string, string>, ...children: Child[]): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(
    ...children.filter((child) => child !== false).map((child) => (typeof child === 'string' ? visible(child) : child)),
  );
  return made;
}
