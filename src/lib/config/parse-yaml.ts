import { parse } from 'yaml'

/** In a file of its own, to be imported late. */
export function parseYaml(text: string): unknown {
  return parse(text)
}
