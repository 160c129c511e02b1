import { describe, expect, test } from 'vitest'
import { leastEase, mostWords, pages, readability } from '../../../build/readability.ts'

const hard = pages().flatMap(({ name, markdown }) => {
  const { ease, long } = readability({ markdown })
  return ease < leastEase || long.length > 0 ? [{ name, ease, long }] : []
})

test('README, guide and every explanation read easily, and no sentence is too long', () => {
  expect(pages().length).toBeGreaterThan(100)
  expect(hard).toEqual([])
})

const easeOf = (markdown: string) => readability({ markdown }).ease
const words = (count: number) => Array.from({ length: count }, () => 'one').join(' ')

describe('what counts', () => {
  test('long words and long sentences make a page hard', () => {
    const simple = easeOf('The node is down. Start it again.')
    const long =
      'Rehabilitating operational availability necessitates considerable administrative deliberation.'
    expect(simple).toBeGreaterThan(90)
    expect(easeOf(long)).toBeLessThan(leastEase)
  })

  test('code, addresses, comments and names of products count for nothing', () => {
    const plain = easeOf('The node is down. Start it again.')
    const dressed = [
      '<!-- an incomprehensible administrative annotation -->',
      'The node is down. [Start it](https://administrative.example.com/incomprehensible) again.',
      '```text\nincomprehensible administrative annotation\n```',
    ].join('\n')
    expect(easeOf(dressed)).toBe(plain)
    expect(easeOf('It is `MachineConfigPoolAdministration` there.')).toBe(easeOf('It is there.'))
    expect(easeOf('It runs KubeVirt there.')).toBe(easeOf('It runs there.'))
  })

  test('a sentence of more words is found, and items of a list are sentences', () => {
    expect(readability({ markdown: `${words(mostWords)}.` }).long).toEqual([])
    expect(readability({ markdown: `${words(mostWords + 1)}.` }).long).toHaveLength(1)
    expect(readability({ markdown: `- ${words(20)}\n- ${words(20)}\n` }).long).toEqual([])
  })
})
