/** An element of a well-formed document; text is left out. */
export interface Element {
  name: string
  attributes: Record<string, string>
  children: Element[]
}

const tag = /<(?<close>\/)?(?<name>[\w-]+)(?<attributes>(?:\s+[\w-]+="[^"<]*")*)\s*(?<empty>\/)?>/uy
const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"' }

/** Throws where a document of elements, attributes in double quotes and text is not well-formed. */
export function parseXml(text: string): Element {
  const root: Element = { name: '', attributes: {}, children: [] }
  const open = [root]
  let at = text.indexOf('?>') + 2
  while (at < text.length) {
    const next = text.indexOf('<', at)
    const words = text.slice(at, next < 0 ? text.length : next)
    if (/&(?!(?:lt|gt|amp|quot);)/u.test(words)) throw new Error(`a lone & in ${words}`)
    if (next < 0) break
    tag.lastIndex = next
    const groups = tag.exec(text)?.groups
    if (groups === undefined) throw new Error(`no tag at ${text.slice(next, next + 80)}`)
    take(open, groups)
    at = tag.lastIndex
  }
  const [only, ...more] = root.children
  if (only === undefined || more.length > 0 || open.length > 1)
    throw new Error('not one element that is closed')
  return only
}

function take(open: Element[], groups: Record<string, string | undefined>): void {
  const { close, name = '', attributes = '', empty } = groups
  if (close !== undefined) {
    if (open.pop()?.name !== name) throw new Error(`${name} was not open`)
    return
  }
  const element = { name, attributes: attributesIn(attributes), children: [] }
  open.at(-1)?.children.push(element)
  if (empty === undefined) open.push(element)
}

function attributesIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/gu)].map(([, key = '', value = '']) => [
      key,
      value.replaceAll(/&(\w+);/gu, (_, entity: string) => entities[entity] ?? `?${entity}?`),
    ]),
  )
}
