import { escaped } from '../formats/junit.ts'

/** HTML that may stand in a page as it is. Only `markup` makes it. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Markup | string | number | false | undefined | readonly Part[]

const partText = (part: Part): string => {
  if (part === false || part === undefined) return ''
  if (part instanceof Markup) return part.text
  return typeof part === 'object' ? part.map(partText).join('') : escaped(String(part))
}

/** A template in which every text is a text: what it is given has no markup, unless this made it. Values of attributes stand in double quotes. */
export const markup = (strings: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
  new Markup(String.raw({ raw: strings }, ...parts.map(partText)))
