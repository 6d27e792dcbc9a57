// Small helpers. Text is only ever set as text: names of programs are untrusted.
export const $ = (id) => document.getElementById(id);

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

// Writes only if the text differs, so that selections, focus and screen readers are not disturbed.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

// Makes the children of an element match a list: kept by key, made and removed as needed, in the list's order.
export function keep(parent, items, keyOf, make) {
  const known = (parent.kept ??= new Map());
  const wanted = new Set(items.map(keyOf));
  for (const [key, part] of known) {
    if (!wanted.has(key)) {
      part.root.remove();
      known.delete(key);
    }
  }
  items.forEach((item, place) => {
    const key = keyOf(item);
    if (!known.has(key)) known.set(key, make(item));
    const part = known.get(key);
    if (parent.children[place] !== part.root) parent.insertBefore(part.root, parent.children[place] ?? null);
    part.update(item);
  });
}
