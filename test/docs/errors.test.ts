/** docs/errors.md has the table of the code: the same codes, with the same outcomes and the same advice. */
import { afterAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../../src/errors.ts'
import { closeServers, post, serve } from '../transport/http/serve.ts'
import { page, ROOT, tableBelow } from './pages.ts'
import { errorCodes, problemKinds, withLists } from './reference-page.ts'

const PATH = 'docs/errors.md'

afterAll(closeServers)

describe('the page of the errors', () => {
  // `npx vitest run --project unit test/docs -u` writes its lists anew.
  it('has the lists of the code', async () => {
    const { text } = page(PATH)
    const made = withLists(text, { 'error-codes': errorCodes(), 'problem-kinds': problemKinds() })
    await expect(made).toMatchFileSnapshot(`${ROOT}/${PATH}`)
  })

  it('has one row for each code, in the order of the code', () => {
    const codes = tableBelow(PATH, 'The codes').map(([code]) => code)
    expect(codes).toEqual(Object.keys(ERRORS).map((code) => `\`${code}\``))
  })

  it('says of every code what a caller should do', () => {
    const advised = tableBelow(PATH, 'What to do').flatMap(([codes = '']) =>
      Array.from(codes.matchAll(/`([a-z_]+)`/g), ([, code]) => code),
    )
    expect(advised.toSorted()).toEqual(Object.keys(ERRORS).toSorted())
  })

  it('shows the problem document that a misspelled field is answered with', async () => {
    const shown = page(PATH).blocks.find(({ text }) => text.includes('urn:baudway:problem'))
    const calls = [{ name: 'office_co2__read_co2', argument: {} }]
    const answer = await serve().inject(post('/v1/batches', { calls }))
    expect(answer.json()).toEqual(JSON.parse(shown?.text ?? ''))
  })
})
