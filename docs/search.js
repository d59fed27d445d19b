/* The scores of the search are Sphinx's, except that the page of a function of fastsel comes before
   the pages of the functions of the same name in fastsel.dask and fastsel.onnx. */
var Scorer = {
    score: ([page, , , , score]) => (/^generated\/fastsel\.\w+$/.test(page) ? score + 1 : score),
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
