#include "model/fused_decoder.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "nn/gemm.h"
#include "nn/row_kernels.h"

namespace verso {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void copy(int64_t n, const float* from, float* to) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

float* pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

/// Calls run(b) for each sentence, side by side.
template <class Run>
void each_sentence(const FusedPairs& pairs, const Run& run) {
  at::parallel_for(0, pairs.target.sentences(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) run(b);
  });
}

/// out[source token] = sum_t alpha_tj x[target token], sentence by sentence: x [target tokens,
/// width] -> [source tokens, width], zeros where attention may not look.
Tensor gather_over_targets(const Tensor& alpha, const Tensor& x, const FusedPairs& pairs) {
  const int64_t width = x.size(1), source_len = pairs.source.longest;
  Tensor out = torch::empty({pairs.source.tokens, width}, x.options());
  each_sentence(pairs, [&](int64_t b) {
    const auto i = static_cast<std::size_t>(b);
    const int64_t len = pairs.attended[i];
    float* const to = pointer(out) + pairs.source.first[i] * width;
    gemm(len, width, pairs.target.lengths[i],
         {pointer(alpha) + b * pairs.target.longest * source_len, source_len, true},
         {pointer(x) + pairs.target.first[i] * width, width}, 0.0F, to, width);
    std::fill(to + len * width, to + pairs.source.lengths[i] * width, 0.0F);
  });
  return out;
}

/// The recurrence, forward and backward, over one batch.
class Recurrence {
 public:
  Recurrence(const FusedDecoderInput& input, const FusedPairs& pairs)
      : in_(input),
        pairs_(pairs),
        hidden_(input.query.size(1)),
        attention_(input.query.size(0)),
        groups_(deal_sentences(pairs.target.lengths, at::get_num_threads())),
        options_(input.words.options().requires_grad(false)) {}

  [[nodiscard]] bool conditional() const { return in_.gru2.weight.defined(); }

  FusedDecoderOutput forward();
  [[nodiscard]] variable_list saved() const;
  static constexpr std::size_t kSaved = 3 + 2 * FusedGru::kSaved;
  void restore(const variable_list& saved, const Tensor& alpha);

  /// Gradients in the order of Decode's arguments.
  [[nodiscard]] variable_list backward(const Tensor& d_states, const Tensor& d_alpha);

 private:
  [[nodiscard]] int64_t groups() const { return static_cast<int64_t>(groups_.size()); }
  template <class Run>
  void each_group(const Run& run) const {
    at::parallel_for(0, groups(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) run(g);
    });
  }
  [[nodiscard]] StepRows step(const SentenceGroup& group, std::size_t t,
                              std::vector<int64_t>& tokens) const;
  [[nodiscard]] float* alpha_row(int64_t b, int64_t token, const Tensor& matrix) const;
  [[nodiscard]] Tensor scratch(const FusedGru& gru) const;
  /// The GRU that reads the context.
  [[nodiscard]] FusedGru& reader() { return conditional() ? *gru2_ : *gru1_; }

  void run_group(int64_t g, const Tensor& scratch, Tensor& states);
  void attend(const StepRows& rows, const float* state, float* query);
  void run_group_back(int64_t g, const Tensor& scratch, const Tensor& d_states);
  void attend_back(const StepRows& rows, float* carry, float* d_query, float* d_energy,
                   float* d_norm);

  FusedDecoderInput in_;
  const FusedPairs& pairs_;
  int64_t hidden_, attention_;
  std::vector<SentenceGroup> groups_;
  torch::TensorOptions options_;
  std::optional<FusedGru> gru1_, gru2_;
  Tensor alpha_;             // [batch, target_len, source_len]
  Tensor queries_;           // [target tokens, attention]
  Tensor normed_, inverse_;  // of the gates that the context goes to
  // forward only
  Tensor turned_query_, sums_, zeros_;
  // backward only
  Tensor d_words_, d_sums_, d_start_, d_keys_, d_energy_, d_queries_, d_alpha_;
  Tensor d_norm1_, d_norm2_, d_norm_in_;
};

StepRows Recurrence::step(const SentenceGroup& group, std::size_t t,
                          std::vector<int64_t>& tokens) const {
  const int64_t count = group.alive[t];
  for (int64_t r = 0; r < count; ++r) {
    const auto b = static_cast<std::size_t>(group.members[static_cast<std::size_t>(r)]);
    tokens[static_cast<std::size_t>(r)] = pairs_.target.first[b] + static_cast<int64_t>(t);
  }
  return {count, tokens.data(), group.members.data()};
}

float* Recurrence::alpha_row(int64_t b, int64_t token, const Tensor& matrix) const {
  const int64_t t = token - pairs_.target.first[static_cast<std::size_t>(b)];
  return pointer(matrix) + (b * pairs_.target.longest + t) * pairs_.source.longest;
}

Tensor Recurrence::scratch(const FusedGru& gru) const {
  int64_t most = 0;
  for (const SentenceGroup& group : groups_) {
    most = std::max(most, static_cast<int64_t>(group.members.size()));
  }
  return torch::empty({groups(), most * (hidden_ + attention_) + gru.scratch_size(most)}, options_);
}

FusedDecoderOutput Recurrence::forward() {
  const int64_t tokens = pairs_.target.tokens;
  gru1_.emplace(in_.gru1, tokens);
  if (conditional()) gru2_.emplace(in_.gru2, tokens);
  turned_query_ = in_.query.t().contiguous();
  queries_ = torch::empty({tokens, attention_}, options_);
  zeros_ = torch::zeros({3 * hidden_}, options_);
  // What the context adds goes on top of the words where one GRU reads both.
  sums_ = conditional() ? torch::zeros({tokens, 3 * hidden_}, options_) : in_.words.clone();
  if (in_.gain.defined()) {
    normed_ = torch::empty({tokens, 3 * hidden_}, options_);
    inverse_ = torch::empty({tokens, 3}, options_);
  }
  alpha_ = torch::zeros({pairs_.target.sentences(), pairs_.target.longest, pairs_.source.longest},
                        options_);
  Tensor states = torch::empty({tokens, hidden_}, options_);
  const Tensor space = scratch(*gru1_);
  each_group([&](int64_t g) { run_group(g, space, states); });
  return {states, alpha_};
}

void Recurrence::run_group(int64_t g, const Tensor& scratch, Tensor& states) {
  const SentenceGroup& group = groups_[static_cast<std::size_t>(g)];
  const auto rows = static_cast<int64_t>(group.members.size());
  float* const state = pointer(scratch) + g * scratch.size(1);
  float* const query = state + rows * hidden_;
  float* const rest = query + rows * attention_;
  for (int64_t r = 0; r < rows; ++r) {
    copy(hidden_, pointer(in_.start) + group.members[static_cast<std::size_t>(r)] * hidden_,
         state + r * hidden_);
  }
  const float* const bias = in_.bias.defined() ? pointer(in_.bias) : pointer(zeros_);
  std::vector<int64_t> tokens(group.members.size());
  for (std::size_t t = 0; t < group.alive.size(); ++t) {
    const StepRows now = step(group, t, tokens);
    if (conditional()) gru1_->forward(now, pointer(in_.words), pointer(zeros_), state, rest);
    attend(now, state, query);
    reader().forward(now, pointer(sums_), bias, state, rest);
    for (int64_t r = 0; r < now.count; ++r) {
      copy(hidden_, state + r * hidden_, pointer(states) + now.token[r] * hidden_);
    }
  }
}

void Recurrence::attend(const StepRows& rows, const float* state, float* query) {
  gemm(rows.count, attention_, hidden_, {state, hidden_}, {pointer(turned_query_), attention_},
       0.0F, query, attention_);
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t b = rows.sentence[r], token = rows.token[r];
    const auto sentence = static_cast<std::size_t>(b);
    const int64_t first = pairs_.source.first[sentence], len = pairs_.attended[sentence];
    copy(attention_, query + r * attention_, pointer(queries_) + token * attention_);
    float* const alpha = alpha_row(b, token, alpha_);
    attention_energies(len, attention_, query + r * attention_,
                       pointer(in_.keys) + first * attention_, pointer(in_.energy), alpha);
    if (in_.energy_offset.defined()) add_to(len, alpha_row(b, token, in_.energy_offset), alpha);
    softmax_row(len, alpha);
    float* const sum = pointer(sums_) + token * 3 * hidden_;
    add_weighted_rows(len, 3 * hidden_, alpha, pointer(in_.values) + first * 3 * hidden_,
                      3 * hidden_, sum);
    if (in_.gain.defined()) {
      normalize_gates_row(hidden_, sum, pointer(in_.gain), pointer(normed_) + token * 3 * hidden_,
                          pointer(inverse_) + token * 3, sum);
    }
  }
}

variable_list Recurrence::saved() const {
  variable_list kept = {queries_, normed_, inverse_};
  for (const auto* gru : {&gru1_, &gru2_}) {
    const auto tensors = gru->has_value() ? (*gru)->saved() : std::vector<Tensor>(FusedGru::kSaved);
    kept.insert(kept.end(), tensors.begin(), tensors.end());
  }
  return kept;
}

void Recurrence::restore(const variable_list& saved, const Tensor& alpha) {
  alpha_ = alpha;
  queries_ = saved[0];
  normed_ = saved[1];
  inverse_ = saved[2];
  const auto first = saved.begin() + 3;
  const auto middle = first + static_cast<std::ptrdiff_t>(FusedGru::kSaved);
  gru1_.emplace(in_.gru1, std::vector<Tensor>(first, middle));
  if (conditional()) gru2_.emplace(in_.gru2, std::vector<Tensor>(middle, saved.end()));
}

variable_list Recurrence::backward(const Tensor& d_states, const Tensor& d_alpha) {
  const int64_t tokens = pairs_.target.tokens, gates = 3 * hidden_;
  const auto norm = [&](bool wanted) {
    return wanted ? torch::zeros({groups(), 2, gates}, options_) : Tensor();
  };
  d_sums_ = torch::empty({tokens, gates}, options_);
  d_words_ = conditional() ? torch::empty({tokens, gates}, options_) : d_sums_;
  d_start_ = torch::zeros_like(in_.start);
  d_keys_ = torch::zeros_like(in_.keys);
  d_queries_ = torch::empty_like(queries_);
  d_energy_ = torch::zeros({groups(), attention_}, options_);
  d_alpha_ = d_alpha.clone();
  d_norm1_ = norm(gru1_->normalized());
  d_norm2_ = norm(conditional() && gru2_->normalized());
  d_norm_in_ = norm(in_.gain.defined());
  const Tensor space = scratch(*gru1_);
  each_group([&](int64_t g) { run_group_back(g, space, d_states); });

  Tensor d_query = torch::empty_like(in_.query);
  gemm(attention_, hidden_, tokens, {pointer(d_queries_), attention_, true},
       {pointer(reader().previous()), hidden_}, 0.0F, pointer(d_query), hidden_);
  const FusedGru::Gradients d1 = gru1_->gradients(d_norm1_);
  const FusedGru::Gradients d2 = conditional() ? gru2_->gradients(d_norm2_) : FusedGru::Gradients();
  Tensor d_bias, d_gain;
  if (in_.gain.defined()) {
    const Tensor sums = d_norm_in_.sum(0);
    d_gain = sums.select(0, 0).contiguous();
    d_bias = sums.select(0, 1).contiguous();
  } else if (in_.bias.defined()) {
    d_bias = d_sums_.sum(0);
  }
  const Tensor d_values = gather_over_targets(alpha_, d_sums_, pairs_);
  // By now d_alpha_ holds dL/de, see attention_gradient_row.
  const Tensor d_offset = in_.energy_offset.defined() ? d_alpha_ : Tensor();
  return {d_words_,  d_start_, d_keys_, d_values, d_query,   d_energy_.sum(0),
          d1.weight, d1.bias,  d1.gain, Tensor(), d2.weight, d2.bias,
          d2.gain,   Tensor(), d_bias,  d_gain,   d_offset};
}

void Recurrence::run_group_back(int64_t g, const Tensor& scratch, const Tensor& d_states) {
  const SentenceGroup& group = groups_[static_cast<std::size_t>(g)];
  const auto rows = static_cast<int64_t>(group.members.size());
  float* const carry = pointer(scratch) + g * scratch.size(1);
  float* const d_query = carry + rows * hidden_;
  float* const rest = d_query + rows * attention_;
  std::memset(carry, 0, static_cast<std::size_t>(rows * hidden_) * sizeof(float));
  const auto norm = [&](const Tensor& sums) {
    return sums.defined() ? pointer(sums) + g * 6 * hidden_ : nullptr;
  };
  std::vector<int64_t> tokens(group.members.size());
  for (std::size_t t = group.alive.size(); t-- > 0;) {
    const StepRows now = step(group, t, tokens);
    for (int64_t r = 0; r < now.count; ++r) {
      add_to(hidden_, pointer(d_states) + now.token[r] * hidden_, carry + r * hidden_);
    }
    reader().backward(now, carry, pointer(d_sums_), norm(conditional() ? d_norm2_ : d_norm1_),
                      rest);
    attend_back(now, carry, d_query, pointer(d_energy_) + g * attention_, norm(d_norm_in_));
    if (conditional()) {
      gru1_->backward(now, carry, pointer(d_words_), norm(d_norm1_), rest);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    copy(hidden_, carry + r * hidden_,
         pointer(d_start_) + group.members[static_cast<std::size_t>(r)] * hidden_);
  }
}

void Recurrence::attend_back(const StepRows& rows, float* carry, float* d_query, float* d_energy,
                             float* d_norm) {
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t b = rows.sentence[r], token = rows.token[r];
    const auto sentence = static_cast<std::size_t>(b);
    const int64_t first = pairs_.source.first[sentence], len = pairs_.attended[sentence];
    float* const d_sum = pointer(d_sums_) + token * 3 * hidden_;
    if (in_.gain.defined()) {
      normalize_gates_gradient_row(
          hidden_, pointer(in_.gain), pointer(normed_) + token * 3 * hidden_,
          pointer(inverse_) + token * 3, d_sum, d_norm, d_norm + 3 * hidden_);
    }
    float* const d_alpha = alpha_row(b, token, d_alpha_);
    add_row_products(len, 3 * hidden_, pointer(in_.values) + first * 3 * hidden_, 3 * hidden_,
                     d_sum, d_alpha);
    attention_gradient_row(
        len, attention_,
        {pointer(queries_) + token * attention_, pointer(in_.keys) + first * attention_,
         pointer(in_.energy), alpha_row(b, token, alpha_), d_alpha, d_query + r * attention_,
         pointer(d_keys_) + first * attention_, d_energy});
    copy(attention_, d_query + r * attention_, pointer(d_queries_) + token * attention_);
  }
  gemm(rows.count, hidden_, attention_, {d_query, attention_}, {pointer(in_.query), hidden_}, 1.0F,
       carry, hidden_);
}

void keep_pairs(AutogradContext* context, const FusedPairs& pairs) {
  context->saved_data["source"] = pairs.source.lengths;
  context->saved_data["target"] = pairs.target.lengths;
  context->saved_data["attended"] = pairs.attended;
}

FusedPairs kept_pairs(AutogradContext* context) {
  return {Packed(context->saved_data["source"].toIntVector()),
          Packed(context->saved_data["target"].toIntVector()),
          context->saved_data["attended"].toIntVector()};
}

class Decode : public torch::autograd::Function<Decode> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& words, const Tensor& start,
                               const Tensor& keys, const Tensor& values, const Tensor& query,
                               const Tensor& energy, const Tensor& weight1, const Tensor& bias1,
                               const Tensor& gain1, const Tensor& mask1, const Tensor& weight2,
                               const Tensor& bias2, const Tensor& gain2, const Tensor& mask2,
                               const Tensor& bias, const Tensor& gain, const Tensor& energy_offset,
                               const FusedPairs& pairs) {
    const variable_list arguments = {words,   start, keys,  values, query,        energy,
                                     weight1, bias1, gain1, mask1,  weight2,      bias2,
                                     gain2,   mask2, bias,  gain,   energy_offset};
    Recurrence recurrence(input(arguments), pairs);
    const FusedDecoderOutput out = recurrence.forward();
    variable_list kept = arguments;
    kept.push_back(out.alpha);
    const variable_list saved = recurrence.saved();
    kept.insert(kept.end(), saved.begin(), saved.end());
    context->save_for_backward(kept);
    keep_pairs(context, pairs);
    return {out.states, out.alpha};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list kept = context->get_saved_variables();
    const FusedPairs pairs = kept_pairs(context);
    Recurrence recurrence(input(kept), pairs);
    recurrence.restore({kept.begin() + kArguments + 1, kept.end()}, kept[kArguments]);
    variable_list d = recurrence.backward(gradients[0].contiguous(), gradients[1].contiguous());
    d.emplace_back();  // pairs
    return d;
  }

 private:
  static constexpr std::ptrdiff_t kArguments = 17;

  static FusedDecoderInput input(variable_list a) {
    for (Tensor& tensor : a) tensor = empty_as_absent(tensor);
    return {a[0],
            a[1],
            a[2],
            a[3],
            a[4],
            a[5],
            {a[6], a[7], a[8], a[9]},
            {a[10], a[11], a[12], a[13]},
            a[14],
            a[15],
            a[16]};
  }
};

class Contexts : public torch::autograd::Function<Contexts> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& alpha, const Tensor& states,
                        const FusedPairs& pairs) {
    const int64_t width = states.size(1), source_len = pairs.source.longest;
    Tensor out = torch::empty({pairs.target.tokens, width}, states.options().requires_grad(false));
    each_sentence(pairs, [&](int64_t b) {
      const auto i = static_cast<std::size_t>(b);
      gemm(pairs.target.lengths[i], width, pairs.attended[i],
           {pointer(alpha) + b * pairs.target.longest * source_len, source_len},
           {pointer(states) + pairs.source.first[i] * width, width}, 0.0F,
           pointer(out) + pairs.target.first[i] * width, width);
    });
    context->save_for_backward({alpha, states});
    keep_pairs(context, pairs);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list kept = context->get_saved_variables();
    const FusedPairs pairs = kept_pairs(context);
    const Tensor &alpha = kept[0], &states = kept[1], d_context = gradients[0].contiguous();
    const int64_t width = states.size(1), source_len = pairs.source.longest;
    Tensor d_alpha = torch::zeros_like(alpha);
    each_sentence(pairs, [&](int64_t b) {
      const auto i = static_cast<std::size_t>(b);
      gemm(pairs.target.lengths[i], pairs.attended[i], width,
           {pointer(d_context) + pairs.target.first[i] * width, width},
           {pointer(states) + pairs.source.first[i] * width, width, true}, 0.0F,
           pointer(d_alpha) + b * pairs.target.longest * source_len, source_len);
    });
    return {d_alpha, gather_over_targets(alpha, d_context, pairs), Tensor()};
  }
};

}  // namespace

FusedDecoderOutput decode_fused(const FusedDecoderInput& in, const FusedPairs& pairs) {
  const variable_list out = Decode::apply(
      in.words.contiguous(), in.start.contiguous(), in.keys.contiguous(), in.values.contiguous(),
      in.query, in.energy, in.gru1.weight, in.gru1.bias, absent_as_empty(in.gru1.gain),
      absent_as_empty(in.gru1.mask), absent_as_empty(in.gru2.weight), absent_as_empty(in.gru2.bias),
      absent_as_empty(in.gru2.gain), absent_as_empty(in.gru2.mask), absent_as_empty(in.bias),
      absent_as_empty(in.gain), absent_as_empty(in.energy_offset).contiguous(), pairs);
  return {out[0], out[1]};
}

Tensor contexts_fused(const Tensor& alpha, const Tensor& states, const FusedPairs& pairs) {
  return Contexts::apply(alpha, states.contiguous(), pairs);
}

}  // namespace verso
