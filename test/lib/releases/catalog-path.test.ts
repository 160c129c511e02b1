import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type CatalogPackage, nextIn, parseCatalog, pathTo } from '../../../src/lib/releases/catalog-path.ts'
import fixture from './catalog-path.json' with { type: 'json' }

const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`

const catalog = (name: string) => readFileSync(new URL(`catalogs/${name}`, import.meta.url), 'utf8')
/** As on OKD: a channel per minor. */
const okd = catalog('okd.yaml')
/**
 * As `opm alpha render-template semver` makes it of several releases (operator-registry alpha/template/semver): only the head of a minor's channel has edges, and the minor before is
 * in them alone.
 */
const rendered = catalog('rendered.yaml')
/** As on OpenShift: one channel, ranges, JSON objects one after the other. */
const ocp = catalog('ocp.txt')

function only(text: string): CatalogPackage {
  const [first] = parseCatalog(text, 'catalog.yaml')
  if (first === undefined) throw new Error('no package')
  return first
}

const hops = (text: string, from: string, to: string, channel?: string) =>
  pathTo(only(text), { from: { csv: csv(from), version: from }, to, channel })

describe('a file-based catalog', () => {
  test('the head that reaches back is taken, not the release in between', () => {
    const [first] = only(okd).channels
    expect(first && nextIn(first, { csv: csv('1.16.0') })?.name).toBe(csv('1.17.3'))
    expect(first && nextIn(first, { csv: csv('1.17.3') })).toBeUndefined()
  })

  test('a skip range reaches releases that no edge names', () => {
    const [stable] = only(ocp).channels
    expect(stable && nextIn(stable, { csv: csv('4.17.4'), version: '4.17.4' })?.name).toBe(csv('4.18.9'))
    expect(stable && nextIn(stable, { csv: csv('4.18.9'), version: '4.18.9' })?.name).toBe(csv('4.19.6'))
  })

  test('on OKD each minor has its channel', () => {
    expect(hops(okd, '1.16.0', '1.18.1', 'stable-v1.16')).toEqual({
      is: 'path',
      hops: [
        { csv: csv('1.17.3'), version: '1.17.3', channel: 'stable-v1.17' },
        { csv: csv('1.18.1'), version: '1.18.1', channel: 'stable-v1.18' },
      ],
    })
  })

  test.each(fixture.skipped)('$what is no entry of the channel, and leads on', ({ from, to }) => {
    const path = hops(rendered, from, to.at(-1) ?? '', 'stable-v1.16')
    expect(path.is === 'path' && path.hops.map(({ version }) => version)).toEqual(to)
  })

  test('a minor is passed over where no release of it lies on the way, and only there', () => {
    const without117 = rendered
      .split('---\n')
      .filter((document) => !document.includes('name: stable-v1.17\n'))
      .join('---\n')
    expect(hops(rendered, '1.16.1', '1.18.1', 'stable-v1.16')).toMatchObject({
      hops: [{ version: '1.17.3' }, { version: '1.18.1' }],
    })
    expect(hops(without117, '1.16.1', '1.18.1', 'stable-v1.16')).toMatchObject({
      hops: [{ version: '1.18.1' }],
    })
  })

  test('one channel, hop by hop', () => {
    const path = hops(ocp, '4.18.9', '4.20.1', 'stable')
    expect(path).toMatchObject({ hops: [{ version: '4.19.6' }, { version: '4.20.1' }] })
  })

  test.each(fixture.reaches)('$what cannot be reached: how far it goes', ({ from, to, reaches }) => {
    const path = hops(okd, from, to)
    expect(path).toMatchObject({ is: 'none' })
    expect(path.is === 'none' && path.reaches.map(({ version }) => version)).toEqual(reaches)
  })

  test.each(fixture.refused)('%j is refused', (text, why) => {
    expect(() => parseCatalog(text, 'catalog.yaml')).toThrow(why)
  })
})
