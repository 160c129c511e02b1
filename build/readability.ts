import { globSync, readFileSync } from 'node:fs'
import { syllable } from 'syllable'

/** A page, or a section of one that `kvup explain` prints alone. */
export interface Page {
  /** `README.md`, `docs/checks.md kubernetes-window`. */
  readonly name: string
  readonly markdown: string
}

export interface Readability {
  /** Flesch reading ease: 100 is very easy, 50 fairly difficult, 30 a scientific paper. */
  readonly ease: number
  /** Sentences of more than `mostWords` words. */
  readonly long: readonly string[]
}

export const leastEase = 50
export const mostWords = 30

/** Names that nobody can write shorter: they count neither as words nor as syllables. */
const names =
  /\b(?:KubeVirt(?:'s)?|Kubernetes|OpenShift|OKD|HyperConverged(?:'s)?|OLM|EUS|VirtualMachineInstance(?:s)?|VirtualMachine(?:s)?|InstallPlan(?:s)?|Subscription(?:s)?|ClusterVersion|OperatorCondition|MachineConfigPool(?:s)?|PodDisruptionBudget(?:s)?|DaemonSet(?:s)?|Deployment(?:s)?|ConfigMap(?:s)?|NetworkAttachmentDefinition(?:s)?|ServiceAccount(?:s)?|CustomResourceDefinition(?:s)?|virt-[a-z]+|Prometheus|GitOps|GitHub|kubectl|virtctl|libvirt|QEMU|CDI)\b/gu

/** README, the guide, and each section of docs/checks.md. */
export function pages(): Page[] {
  const files = ['README.md', ...globSync('docs/guide/*.md').toSorted()]
  const checks = readFileSync('docs/checks.md', 'utf8')
  const sections = checks.split(/^## /mu).slice(1)
  return [
    ...files.map((name) => ({ name, markdown: readFileSync(name, 'utf8') })),
    ...sections.map((text) => {
      const [id = '', ...body] = text.split('\n')
      return { name: `docs/checks.md ${id}`, markdown: body.join('\n') }
    }),
  ]
}

/** How easy the prose of a page is to read: without code, addresses, comments, headings and names of products. */
export function readability({ markdown }: Pick<Page, 'markdown'>): Readability {
  const all = sentencesOf(proseOf(markdown))
  const words = all.flatMap(wordsOf)
  const syllables = words.reduce((sum, word) => sum + syllable(word), 0)
  const counted = all.filter((sentence) => wordsOf(sentence).length > 0).length
  const ease = 206.835 - 1.015 * (words.length / counted) - 84.6 * (syllables / words.length)
  const long = sentencesOf(withCode(markdown)).filter((sentence) => sentence.split(' ').length > mostWords)
  return { ease: words.length === 0 ? 100 : ease, long }
}

/** Blocks of code go; a paragraph, an item of a list and a cell of a table end a sentence. */
function blocksOf(markdown: string): string {
  return markdown
    .replaceAll(/^```[\s\S]*?^```$/gmu, '')
    .replaceAll(/<!--[\s\S]*?-->/gu, '')
    .replaceAll(/^#+ .*$/gmu, '')
    .replaceAll(/^\|[-| :]+\|$/gmu, '')
    .replaceAll(/\]\([^)]*\)/gu, ']')
    .replaceAll(/[[\]*_]/gu, '')
    .replaceAll(/^\|(.*)\|$/gmu, (_, cells: string) => `${cells.replaceAll('|', '.\n\n')}.`)
    .replaceAll(/^(?:[-*]|\d+\.) /gmu, '\n\n')
    .replaceAll(/\n\s*\n/gu, ' .\n')
}

/** A command or a name in the text is a word of its sentence. */
const withCode = (markdown: string) => blocksOf(markdown.replaceAll(/`[^`\n]+`/gu, 'code'))

const proseOf = (markdown: string) => blocksOf(markdown.replaceAll(/`[^`\n]+`/gu, '')).replaceAll(names, '')

function sentencesOf(prose: string): string[] {
  return prose
    .replaceAll(/\s+/gu, ' ')
    .split(/(?<=[.!?])\s+(?=\S)/u)
    .map((sentence) => sentence.replaceAll(/\s+[.]$/gu, '').trim())
    .filter((sentence) => /\p{L}/u.test(sentence))
}

const wordsOf = (sentence: string): string[] => sentence.match(/\p{L}[\p{L}'’-]*/gu) ?? []

if (import.meta.main) {
  for (const page of pages()) {
    const { ease, long } = readability(page)
    if (ease >= leastEase && long.length === 0) continue
    process.exitCode = 1
    console.log(`${page.name}: reading ease ${ease.toFixed(0)} (at least ${leastEase})`)
    for (const sentence of long) console.log(`  over ${mostWords} words: ${sentence}`)
  }
}
