/** The text of a shell script, in which `\${` stands for `${` and nothing else is escaped. */
export function scriptText({ raw }: TemplateStringsArray): string {
  return raw.join('').replaceAll('\\${', '${')
}
